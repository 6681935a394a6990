import { ReportError, type Tokens } from './report.ts';
import { withoutThinking } from './shapes.ts';

export interface Reply {
  text: string;
  /** The answer was truncated at the token limit. */
  cut: boolean;
  tokens: Tokens;
}

/** A partial answer. */
export interface Collected {
  content: string;
  refusal: string;
  finish: string;
  tokens: Tokens;
}

/** A streamed piece or a whole answer: the fields that are used of either. */
export interface Chunk {
  choices?: { delta?: Part; message?: Part; finish_reason?: string | null }[];
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null;
  error?: { message?: string };
}

interface Part {
  content?: string | null;
  refusal?: string | null;
}

const LONGEST = 262_144; // characters; twice what the largest requested answer can contain

/** Adds one piece of an answer. Throws if the server reports an error in the stream, and if the answer does not end. */
export function add(all: Collected, chunk: Chunk): void {
  if (chunk.error !== undefined && chunk.error !== null)
    throw unavailable(`the server reported an error (${chunk.error.message ?? 'no message'})`, true);
  const choice = chunk.choices?.[0];
  const part = choice?.delta ?? choice?.message;
  all.content += part?.content ?? '';
  all.refusal += part?.refusal ?? '';
  if (all.content.length > LONGEST) throw endless();
  all.finish = choice?.finish_reason ?? all.finish;
  if (chunk.usage) all.tokens = { input: chunk.usage.prompt_tokens ?? 0, output: chunk.usage.completion_tokens ?? 0 };
}

/** The complete answer without reasoning. Throws LLM_REFUSED if the model or its filter refused. */
export function replyOf({ content, refusal, finish, tokens }: Collected): Reply {
  if (refusal !== '') throw refused('in its refusal field');
  if (finish === 'content_filter') throw refused('its content filter stopped the answer');
  if (finish === '' && content === '') throw unavailable('the answer was cut off before its first word', true);
  return { text: withoutThinking(content), cut: finish === 'length', tokens };
}

export function refused(reason: string): ReportError {
  return new ReportError('LLM_REFUSED', `Cannot write the report: the model refused (${reason})`);
}

export function endless(): ReportError {
  return new ReportError('LLM_INVALID_OUTPUT', "Cannot use the model's answer: it is longer than the limit");
}

export function unavailable(found: string, retryable: boolean): ReportError {
  return new ReportError('LLM_UNAVAILABLE', `Cannot write the report: ${found}`, retryable);
}

export function timedOut(seconds: number): ReportError {
  return new ReportError('LLM_TIMEOUT', `Cannot write the report: the model did not finish within ${seconds} s`, true);
}

import { ReportError, type Tokens } from './report.ts';
import { withoutThinking } from './shapes.ts';

export interface Reply {
  text: string;
  /** True when the model ran out of room before it was done. */
  cut: boolean;
  tokens: Tokens;
}

/** An answer in the making. */
export interface Collected {
  content: string;
  refusal: string;
  finish: string;
  tokens: Tokens;
}

/** A streamed piece, or a whole answer: the fields that are read of either. */
export interface Chunk {
  choices?: { delta?: Part; message?: Part; finish_reason?: string | null }[];
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null;
  error?: { message?: string };
}

interface Part {
  content?: string | null;
  refusal?: string | null;
}

const LONGEST = 262_144; // characters; twice what the largest answer that is asked for can hold

/** Adds one piece of an answer. Throws when the server reports an error in its stream, and when the answer has no end. */
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

/** The finished answer, without thinking aloud. Throws LLM_REFUSED when the model or its filter would not answer. */
export function replyOf({ content, refusal, finish, tokens }: Collected): Reply {
  if (refusal !== '') throw refused('in its refusal field');
  if (finish === 'content_filter') throw refused('its content filter stopped the answer');
  if (finish === '' && content === '') throw unavailable('the answer broke off before its first word', true);
  return { text: withoutThinking(content), cut: finish === 'length', tokens };
}

export function refused(reason: string): ReportError {
  return new ReportError('LLM_REFUSED', `Cannot write the report: the model refused (${reason})`);
}

export function endless(): ReportError {
  return new ReportError('LLM_INVALID_OUTPUT', "Cannot use the model's answer: it is longer than any report");
}

export function unavailable(found: string, retryable: boolean): ReportError {
  return new ReportError('LLM_UNAVAILABLE', `Cannot write the report: ${found}`, retryable);
}

export function timedOut(seconds: number): ReportError {
  return new ReportError('LLM_TIMEOUT', `Cannot write the report: the model did not finish within ${seconds} s`, true);
}

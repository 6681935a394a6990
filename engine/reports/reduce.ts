import { setMaxListeners } from 'node:events';
import { converse } from './converse.ts';
import { TooLong } from './failures.ts';
import { chunk, type Line, tokensOf, toLine } from './lines.ts';
import type { Model } from './model.ts';
import { notesPrompt, type Prompt } from './prompt.ts';
import { ReportError, type ReportTranscript, type Tokens } from './report.ts';
import { type NamedSpeaker, NOTES } from './shapes.ts';
import { estimateTokens } from './tokens.ts';

const PARTS = 400; // maximum per recording
const ROUNDS = 5;
const MARGIN = 128; // tokens added by a chat template
const LEAST_ROOM = 256; // minimum number of tokens for lines; with fewer, working in parts is pointless
const LARGEST_ANSWER = 8192; // tokens, reasoning included

/** The context in tokens, and the part of it reserved for the answer. */
export interface Size {
  context: number;
  output: number;
}

/** Contents of one prompt: the transcript itself, or notes on it. */
export interface Part {
  lines: readonly Line[];
  condensed: boolean;
  /** Names claimed in earlier calls. */
  speakers: NamedSpeaker[];
}

export interface Work {
  lines: readonly Line[];
  task: string;
  language: string;
  transcript: ReportTranscript;
  size: Size;
  /** The prompt that the result must fit into. */
  prompt: (part: Part) => Prompt;
  tokens: Tokens;
}

/** Runs `work` with the model's context; repeats with less if the server rejects the length. Finally throws TRANSCRIPT_TOO_LONG. */
export async function withRoom<T>(model: Model, signal: AbortSignal, work: (size: Size) => Promise<T>): Promise<T> {
  for (let round = 0; round < ROUNDS; round++) {
    const { context } = await model.about(signal);
    try {
      return await work({ context, output: Math.min(LARGEST_ANSWER, Math.floor(context / 4)) });
    } catch (error) {
      if (!(error instanceof TooLong)) throw error;
      model.shorten(error.limit > 0 && error.limit < context ? error.limit : Math.floor(context * 0.7));
    }
  }
  throw tooLong('the server rejected every length that was tried; set LLM_CONTEXT');
}

/**
 * Lines that fit into one prompt: all of them, or notes taken part by part, and notes on notes if even those are too many. A note keeps the
 * number, time and speaker of the segment it refers to.
 */
export async function condense(model: Model, work: Work, signal: AbortSignal): Promise<Part> {
  let part: Part = { lines: work.lines, condensed: false, speakers: [] };
  const room = roomIn(work.size, work.prompt({ lines: [], condensed: true, speakers: [] }));
  for (let round = 0; tokensOf(part.lines) > room; round++) {
    const parts = chunk(part.lines, roomIn(work.size, notesPrompt(work.task, [], work.language, PARTS, PARTS)));
    if (parts.length > PARTS || round === ROUNDS)
      throw tooLong(`${parts.length} parts would be needed with a context of ${work.size.context} tokens`);
    const noted = await allOrNone(signal, parts, (lines, index, stop) =>
      takeNotes(model, work, lines, { part: index + 1, parts: parts.length }, stop),
    );
    const lines = noted.flatMap((notes) => notes.lines);
    if (tokensOf(lines) > tokensOf(part.lines) * 0.9) throw tooLong("the model's notes are as long as the text they summarise");
    part = { lines, condensed: true, speakers: [...part.speakers, ...noted.flatMap((notes) => notes.speakers)] };
  }
  return part;
}

async function takeNotes(model: Model, work: Work, lines: readonly Line[], at: { part: number; parts: number }, signal: AbortSignal) {
  const { value } = await converse(
    model,
    notesPrompt(work.task, lines, work.language, at.part, at.parts),
    NOTES,
    work.size.output,
    work.tokens,
    signal,
  );
  const shown = new Map(lines.map((line) => [line.segment, line]));
  const starts = new Map(work.transcript.segments.map((segment) => [segment.id, segment.start]));
  const notes = value!.notes.flatMap((note) => {
    const source = shown.get(note.segment); // a note on a line that was not in the prompt is hallucinated
    return source === undefined ? [] : [toLine(source.segment, starts.get(source.segment) ?? 0, source.speaker, note.text)];
  });
  return { lines: notes, speakers: value!.speakers };
}

/** All results in order; the first failure cancels the rest. */
async function allOrNone<A, B>(
  signal: AbortSignal,
  items: readonly A[],
  work: (item: A, index: number, stop: AbortSignal) => Promise<B>,
): Promise<B[]> {
  signal.throwIfAborted();
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // every part adds a listener
  const leave = () => stop.abort(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.all(items.map((item, index) => work(item, index, stop.signal)));
  } catch (error) {
    stop.abort(error);
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function roomIn(size: Size, empty: Prompt): number {
  const room = size.context - size.output - estimateTokens(empty.system) - estimateTokens(empty.user) - MARGIN;
  if (room >= LEAST_ROOM) return room;
  throw tooLong(`a context of ${size.context} tokens is too short for the template; use a model with a longer one, or set LLM_CONTEXT`);
}

function tooLong(found: string): ReportError {
  return new ReportError('TRANSCRIPT_TOO_LONG', `Cannot write the report: ${found}`);
}

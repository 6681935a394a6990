import { invalid } from '../../api/contract/errors.ts';
import type { StoredSpeaker } from './list-row.ts';
import type { OpenTranscript, StoredTurn } from './opened.ts';
import { retime, type StoredWord } from './retime.ts';

/** A requested correction. */
export type Wish =
  | { kind: 'title'; title: string | null }
  | { kind: 'text'; segment: number; text: string; words?: StoredWord[] }
  | { kind: 'speaker'; segments: number[]; speaker: string | null; from?: string | null; gone?: StoredSpeaker[]; merges?: boolean };

interface Place {
  /** The corrected object: unseen changes of it by others are not overwritten. */
  places: string[];
  /** The version that it undoes. */
  undoes?: number;
  /** For a text: the previous words with their times. */
  words?: StoredWord[];
  /** Speakers without remaining segments. */
  gone?: StoredSpeaker[];
}

/** A stored correction, with what is needed to display and to undo it. */
export type Change = Place &
  (
    | { kind: 'title'; before: string | null; after: string | null }
    | { kind: 'text'; segment: number; before: string; after: string }
    | { kind: 'speaker' | 'merge'; segments: number[]; before: string | null; after: string | null }
  );

/** Corrects an open transcript. Null: nothing to change. Throws `validation_error` if the segment or speaker does not exist. */
export async function apply(opened: OpenTranscript, wish: Wish): Promise<Change | null> {
  if (wish.kind === 'title') return retitle(opened, wish.title);
  if (wish.kind === 'text') return rewrite(opened, wish.segment, wish.text, wish.words);
  return reassign(opened, wish);
}

/** The correction that undoes a change. `gone`: the speakers that any change removed, the last removed first. */
export function inverse(change: Change, gone: readonly StoredSpeaker[]): Wish {
  if (change.kind === 'title') return { kind: 'title', title: change.before };
  if (change.kind === 'text') return { kind: 'text', segment: change.segment, text: change.before, words: change.words };
  const former = gone.filter(({ id }) => id === change.before).slice(0, 1); // a later change may have removed the speaker
  return { kind: 'speaker', segments: change.segments, speaker: change.before, gone: [...(change.gone ?? []), ...former] };
}

function retitle(opened: OpenTranscript, title: string | null): Change | null {
  if (opened.title === title) return null;
  const change: Change = { kind: 'title', places: ['title'], before: opened.title, after: title };
  opened.title = title;
  return change;
}

async function rewrite(opened: OpenTranscript, segment: number, text: string, words: StoredWord[] | undefined): Promise<Change | null> {
  const found = await opened.turn(segment);
  if (!found) throw invalid([{ field: 'segments', message: `there is no segment ${segment}` }]);
  const { turn, block, index } = found;
  if (turn.text === text) return null;
  const before = block.words![index] ?? [];
  const change: Change = { kind: 'text', segment, places: [`text ${segment}`], before: turn.text, after: text, words: before };
  turn.text = text;
  block.words![index] = words ?? retime(before, text, turn.start, turn.end);
  block.changed = true;
  return change;
}

/** Assigns segments, or all of one speaker, to another speaker. */
function reassign(opened: OpenTranscript, wish: Extract<Wish, { kind: 'speaker' }>): Change | null {
  const { speaker, from, merges } = wish;
  for (const one of wish.gone ?? []) if (!opened.speakers.some(({ id }) => id === one.id)) opened.speakers.push(one);
  const named = merges ? [from, speaker] : [speaker];
  for (const id of named.filter((one) => one !== null)) // null: undone is the first assignment of a segment without a speaker
    if (!opened.speakers.some((one) => one.id === id))
      throw invalid([{ field: merges ? 'merge' : 'segments', message: `there is no speaker ${id}` }]);
  const wanted = new Set(wish.segments);
  const chosen = (turn: StoredTurn) => (merges ? turn.speaker === from : wanted.has(turn.id)) && turn.speaker !== speaker;
  const segments: number[] = [];
  let before: string | null = null;
  for (const block of opened.blocks) {
    for (const turn of block.turns) {
      if (!chosen(turn)) continue;
      segments.push(turn.id);
      before = turn.speaker;
      turn.speaker = speaker;
      block.changed = true;
    }
  }
  const there = new Set(opened.turns().map(({ id }) => id));
  const missing = wish.segments.find((id) => !there.has(id));
  if (missing !== undefined) throw invalid([{ field: 'segments', message: `there is no segment ${missing}` }]);
  const gone = settle(opened);
  if (!segments.length && !gone.length) return null;
  const places = segments.map((id) => `speaker ${id}`);
  return { kind: merges ? 'merge' : 'speaker', segments, places, before: merges ? from! : before, after: speaker, gone };
}

/** Orders speakers by first appearance and removes those without segments. Returns the removed ones. */
function settle(opened: OpenTranscript): StoredSpeaker[] {
  const order = [...new Set(opened.turns().map(({ speaker }) => speaker))];
  const gone = opened.speakers.filter(({ id }) => !order.includes(id));
  opened.speakers = opened.speakers.filter(({ id }) => order.includes(id)).sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  return gone;
}

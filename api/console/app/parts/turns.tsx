import { useEffect, useRef, useState } from 'preact/hooks';
import { clock } from '../show.ts';
import type { Segment, Transcription } from '../types.ts';
import { useReturn } from '../use.ts';
import { TurnEditor } from './editor.tsx';
import { Marked } from './marked.tsx';
import { steady } from './steady.tsx';
import { Words } from './words.tsx';

const BLOCK = 10; // turns that are mounted and unmounted together
const MARGIN = '600px';
const LINE = 24; // pixels per line; with CHARACTERS and EXTRA, estimates blocks that were never measured
const CHARACTERS = 88; // per line
const EXTRA = 36; // pixels of a turn besides its text

interface TurnsProps {
  record: Transcription;
  /** Of the newest correction that is shown. */
  version: number;
  /** Turns may be corrected: what to do then; null: they may not. */
  corrected: (() => void) | null;
  /** Id of the transcript, for URLs of turns. */
  id: string;
  segments: Segment[];
  label: (segment: Segment) => string;
  colour: (segment: Segment) => number;
  search: string;
  /** The turn to scroll to the middle of the screen. */
  at: number | null;
  /** Mount all of them, for printing. */
  whole: boolean;
  /** Somebody pointed at what is said at this second. */
  seek: (seconds: number) => void;
}

/** All turns of a transcript. Only blocks near the viewport are mounted, so that ten hours scroll like ten minutes. */
export function Turns(props: TurnsProps) {
  const { at, whole, ...rest } = props;
  const { segments } = rest;
  const count = Math.ceil(segments.length / BLOCK);
  const wanted = at === null ? -1 : Math.floor(segments.findIndex((segment) => segment.id === at) / BLOCK);
  const [near, setNear] = useState<ReadonlySet<number>>(() => new Set([0]));
  const heights = useRef(new Map<number, number>());
  const box = useRef<HTMLDivElement>(null);
  const heightOf = (index: number) => {
    if (!heights.current.has(index)) heights.current.set(index, guess(blockOf(segments, index)));
    return heights.current.get(index)!;
  };
  useEffect(() => {
    const watcher = new IntersectionObserver(
      (entries) =>
        setNear((before) => {
          const after = new Set(before);
          for (const { target, isIntersecting, boundingClientRect } of entries) {
            const index = Number((target as HTMLElement).dataset.block);
            if (before.has(index)) heights.current.set(index, boundingClientRect.height);
            if (isIntersecting) after.add(index);
            else if (!target.querySelector('.turn-editor')) after.delete(index); // what was typed stays
          }
          return after;
        }),
      { rootMargin: MARGIN },
    );
    for (const block of box.current!.children) watcher.observe(block);
    return () => watcher.disconnect();
  }, [count]);
  useEffect(() => {
    if (at !== null) document.getElementById(`turn-${at}`)?.scrollIntoView({ block: 'center' });
  }, [at, segments.length]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the times of turns are for the keyboard
    // biome-ignore lint/a11y/noStaticElementInteractions: as above
    <div
      class="turns"
      ref={box}
      onClick={(event) => {
        const word = (event.target as Element).closest<HTMLElement>('.word');
        if (word) props.seek(Number(word.dataset.at));
      }}
    >
      {Array.from({ length: count }, (_, index) => {
        const shown = whole || near.has(index) || index === wanted;
        return (
          <Block key={index} {...{ ...rest, index, shown }} at={index === wanted ? at : null} height={shown ? null : heightOf(index)} />
        );
      })}
    </div>
  );
}

const blockOf = (segments: Segment[], index: number) => segments.slice(index * BLOCK, (index + 1) * BLOCK);

type BlockProps = Omit<TurnsProps, 'whole'> & {
  index: number;
  shown: boolean;
  /** Pixels of a block that is not mounted. */
  height: number | null;
};

/** Rendered again only when it changes itself: while it plays, that is the block of the turn that is played. */
const Block = steady(({ index, shown, height, ...turns }: BlockProps) => (
  <div class="block" data-block={index} style={{ height: height === null ? '' : `${height}px` }}>
    {shown &&
      blockOf(turns.segments, index).map((segment, i) => (
        <Turn key={segment.id} segment={segment} before={turns.segments[index * BLOCK + i - 1]} turns={turns} />
      ))}
  </div>
));

function guess(turns: Segment[]): number {
  return turns.reduce((sum, { text }) => sum + EXTRA + LINE * Math.ceil(text.length / CHARACTERS), 0);
}

function Turn({ segment, before, turns }: { segment: Segment; before: Segment | undefined; turns: Omit<TurnsProps, 'whole'> }) {
  const { id, label, colour, search, at, record, version, corrected } = turns;
  const [editing, edit] = useState(false);
  const button = useReturn(editing);
  const close = (saved: boolean) => {
    edit(false);
    if (saved) corrected?.();
  };
  const goesOn = before !== undefined && before.speaker_id === segment.speaker_id;
  return (
    <article id={`turn-${segment.id}`} class={`turn voice-${colour(segment)} ${segment.id === at ? 'wanted' : ''}`}>
      <a href={`#/t/${id}?turn=${segment.id}`} onClick={() => turns.seek(segment.start ?? 0)}>
        <time>{clock(segment.start)}</time>
      </a>
      <b class={goesOn ? 'unseen' : ''}>
        <bdi>{label(segment)}</bdi>
      </b>
      {corrected && !editing && (
        <button
          type="button"
          ref={button}
          class="small bare edit no-print"
          aria-label={`Edit turn at ${clock(segment.start)}`}
          onClick={() => edit(true)}
        >
          Edit
        </button>
      )}
      {editing && <TurnEditor {...{ record, version, segment, close }} />}
      <p dir="auto" hidden={editing}>
        {segment.words ? <Words words={segment.words} search={search} /> : <Marked text={segment.text} search={search} />}
      </p>
    </article>
  );
}

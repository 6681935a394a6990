import { options } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { foldText, fullest, patternsOf } from '../finding.ts';
import type { Segment, Transcription } from '../types.ts';
import { Copy } from './basics.tsx';
import { Icon } from './icons.tsx';
import { Player } from './player.tsx';
import { Turns } from './turns.tsx';

interface Props {
  record: Transcription;
  /** See Turns. */
  version: number;
  label: (segment: Segment) => string;
  colour: (segment: Segment) => number;
  /** The turn in the URL. */
  at: number | null;
  /** The search text in the URL. */
  look: string;
  /** See Player. */
  kept: string | null | undefined;
  words: boolean;
  setWords: (on: boolean) => void;
  /** See Turns. */
  corrected: (() => void) | null;
}

/** The turns, with a search bar for all of them: the browser's search only covers those near the viewport. */
export function Reading({ record, version, label, colour, at, look, kept, words, setWords, corrected }: Props) {
  const [search, setSearch] = useState(look);
  const [hit, setHit] = useState(-1);
  const [played, setPlayed] = useState<number | null>(null); // the turn
  const seeking = useRef<((seconds: number) => void) | null>(null);
  const seek = useCallback((seconds: number) => seeking.current?.(seconds), []);
  const input = useRef<HTMLInputElement>(null);
  const whole = usePaper();
  const wanted = useMemo(() => patternsOf(search), [search]);
  const folded = useMemo(() => (wanted ? record.segments.map(({ text }) => foldText(text)) : []), [wanted === null, record.segments]);
  const hits = useMemo(() => (wanted ? fullest(folded, wanted).map((index) => record.segments[index]!.id) : []), [wanted, folded]);
  useEffect(() => {
    const find = (event: KeyboardEvent) => {
      const asked = event.key === 'f' && (event.ctrlKey || event.metaKey);
      if (!asked || document.activeElement === input.current) return; // on the second press, use the browser's search
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    addEventListener('keydown', find);
    return () => removeEventListener('keydown', find);
  }, []);
  useEffect(() => setPlayed(null), [hit, at]);
  const move = (step: number) => hits.length && setHit((before) => (before + step + hits.length) % hits.length);
  if (!record.segments.length) return <p class="empty">No speech was detected in this recording.</p>;
  return (
    <section class="card" aria-label="Transcript">
      <div class="find no-print">
        <input
          ref={input}
          type="search"
          dir="auto"
          aria-label="Find"
          placeholder="Find in this transcript"
          value={search}
          onInput={(event) => {
            setSearch((event.currentTarget as HTMLInputElement).value);
            setHit(-1);
          }}
          onKeyDown={(event) => event.key === 'Enter' && move(event.shiftKey ? -1 : 1)}
        />
        <span class="quiet figure" role="status">
          {wanted ? `${hit >= 0 ? `${hit + 1} of ` : ''}${hits.length} ${hits.length === 1 ? 'turn' : 'turns'}` : ''}
        </span>
        <button type="button" class="small icon" aria-label="Previous" disabled={!hits.length} onClick={() => move(hit < 0 ? 0 : -1)}>
          <Icon of="up" />
        </button>
        <button type="button" class="small icon" aria-label="Next" disabled={!hits.length} onClick={() => move(1)}>
          <Icon of="down" />
        </button>
        <label class="check">
          <input type="checkbox" checked={words} onChange={(event) => setWords((event.currentTarget as HTMLInputElement).checked)} /> Word
          timestamps
        </label>
        <Copy text={record.text ?? ''} label="Copy text" />
      </div>
      <Turns
        {...{ record, version, corrected, seek }}
        id={record.id}
        segments={record.segments}
        label={label}
        colour={colour}
        search={search}
        at={played ?? hits[hit] ?? at}
        whole={whole}
      />
      <Player {...{ record, colour, kept, seeking }} opened={() => setWords(true)} follow={setPlayed} />
    </section>
  );
}

/** True while printing; updates synchronously, because the browser prints the page as it is when the event ends. */
function usePaper(): boolean {
  const [paper, set] = useState(false);
  useEffect(() => {
    const now = (on: boolean) => () => {
      const later = options.debounceRendering;
      options.debounceRendering = (render) => render();
      set(on);
      options.debounceRendering = later;
    };
    const [before, after] = [now(true), now(false)];
    addEventListener('beforeprint', before);
    addEventListener('afterprint', after);
    return () => {
      removeEventListener('beforeprint', before);
      removeEventListener('afterprint', after);
    };
  }, []);
  return paper;
}

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { clock } from '../show.ts';
import type { Segment } from '../types.ts';

const BLOCK = 30; // turns that appear and disappear together
const GUESS = 74; // pixels of a turn not yet measured
const MARGIN = '1500px';

/** All turns of a transcript. Only blocks near the screen are in the page: ten hours scroll like ten minutes. */
export function Turns({
  segments,
  label,
  colour,
  search,
  at,
}: {
  segments: Segment[];
  label: (segment: Segment) => string;
  colour: (segment: Segment) => number;
  search: string;
  at: number | null;
}) {
  const blocks: Segment[][] = [];
  for (let i = 0; i < segments.length; i += BLOCK) blocks.push(segments.slice(i, i + BLOCK));
  return (
    <div class="turns">
      {blocks.map((block) => (
        <Block key={block[0]!.id} block={block} label={label} colour={colour} search={search} at={at} />
      ))}
    </div>
  );
}

function Block({
  block,
  label,
  colour,
  search,
  at,
}: {
  block: Segment[];
  label: (segment: Segment) => string;
  colour: (segment: Segment) => number;
  search: string;
  at: number | null;
}) {
  const holds = at !== null && block[0]!.id <= at && at <= block.at(-1)!.id;
  const [near, setNear] = useState(block[0]!.id === 1 || holds);
  const [height, setHeight] = useState(block.length * GUESS);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const watcher = new IntersectionObserver(([entry]) => setNear(entry!.isIntersecting), { rootMargin: MARGIN });
    watcher.observe(box.current!);
    return () => watcher.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (near) setHeight(box.current!.offsetHeight);
  }, [near, block, search]);
  useEffect(() => {
    if (holds) document.getElementById(`turn-${at}`)?.scrollIntoView({ block: 'center' });
  }, [at]);
  return (
    <div ref={box} style={near ? undefined : { height: `${height}px` }}>
      {near &&
        block.map((segment) => (
          <article key={segment.id} id={`turn-${segment.id}`} class={`turn voice-${colour(segment)} ${segment.id === at ? 'wanted' : ''}`}>
            <header>
              <b>{label(segment)}</b> <time class="quiet">{clock(segment.start)}</time>
            </header>
            <p dir="auto">
              {segment.words ? (
                segment.words.map((word) => <Spoken key={`${word.start} ${word.text}`} word={word} search={search} />)
              ) : (
                <Marked text={segment.text} search={search} />
              )}
            </p>
          </article>
        ))}
    </div>
  );
}

/** A word that tells its time when pointed at, and stands out when it is searched for. */
function Spoken({ word, search }: { word: { start: number; end: number; text: string }; search: string }) {
  const hit = search.length > 1 && word.text.toLowerCase().includes(search.toLowerCase());
  return (
    <span class={`word ${hit ? 'hit' : ''}`} title={`${word.start.toFixed(2)} – ${word.end.toFixed(2)} s`}>
      {word.text}{' '}
    </span>
  );
}

function Marked({ text, search }: { text: string; search: string }) {
  if (search.length < 2) return <>{text}</>;
  const parts: (string | JSX.Element)[] = [];
  const lower = text.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(search.toLowerCase()); at >= 0; at = lower.indexOf(search.toLowerCase(), from)) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + search.length)}</mark>);
    from = at + search.length;
  }
  return (
    <>
      {parts}
      {text.slice(from)}
    </>
  );
}

import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { begun, lengthProblem, markWord } from '../playing.ts';
import { clock, day, length } from '../show.ts';
import type { Segment, Transcription } from '../types.ts';
import { Options } from './basics.tsx';
import { Lanes } from './lanes.tsx';

const SPEEDS = ['0.5', '0.75', '1', '1.25', '1.5', '1.75', '2'];
const STEP = 5; // seconds of an arrow key
const LOST = 2; // code of the browser's error for data that did not arrive
const NOT_LOADED = 'The recording could not be loaded further. Press Play to try again.';

interface Props {
  record: Transcription;
  colour: (segment: Segment) => number;
  /** Until when the recording is kept, as a timestamp; null: it is not; undefined: that is not known yet. */
  kept: string | null | undefined;
  /** Where others in the page say from when to play: filled here; null: nothing can be played. */
  seeking: RefObject<((seconds: number) => void) | null>;
  /** Something can be played: words are wanted. */
  opened: () => void;
  /** This turn is being played and to be shown. */
  follow: (turn: number) => void;
}

/** Plays the recording beside its text: the one that is kept, or the person's own copy, which never leaves the browser. */
export function Player({ record, colour, kept, seeking, opened, follow }: Props) {
  const [copy, setCopy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [playing, setPlaying] = useState(false);
  const [seconds, setSeconds] = useState(0);
  const [speed, setSpeed] = useState('1');
  const [following, setFollowing] = useState(true);
  const audio = useRef<HTMLAudioElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const { segments } = record;
  const recording = `/v1/app/transcriptions/${record.id}/recording`;
  const url = copy ?? (kept ? recording : null);
  const duration = record.duration_seconds ?? segments.at(-1)?.end ?? 0;
  /** Loads again what failed to load: the service or the session may be back. */
  const recover = (at: number) => {
    if (!audio.current!.error) return;
    setProblem(null);
    audio.current!.load();
    audio.current!.currentTime = at;
    audio.current!.playbackRate = Number(speed);
  };
  const seek = (to: number) => {
    if (!url) return;
    recover(to);
    audio.current!.currentTime = Math.max(0, to);
    setSeconds(Math.max(0, to));
    markWord(segments, to);
  };
  const toggle = () => {
    recover(seconds);
    if (!audio.current!.paused) return audio.current!.pause();
    audio.current!.play().catch(() => {}); // onError says why
  };
  useLayoutEffect(() => {
    seeking.current = url ? seek : null;
  });
  useEffect(() => () => void (copy && URL.revokeObjectURL(copy)), [copy]);
  useEffect(() => {
    if (kept) opened();
  }, [kept]);
  useFrames(playing, () => markWord(segments, audio.current!.currentTime));
  const turn = segments[begun(segments, seconds)]?.id;
  useEffect(() => {
    const typing = document.querySelector('.turn-editor') !== null; // it stays where it is
    if (playing && following && turn !== undefined && !typing) follow(turn);
  }, [playing, following, turn]);
  useKeys(url !== null, {
    ' ': toggle,
    ArrowLeft: () => seek(audio.current!.currentTime - STEP),
    ArrowRight: () => seek(audio.current!.currentTime + STEP),
  });
  const open = (chosen: File | undefined) => {
    if (!chosen) return;
    setProblem(null);
    setPlaying(false);
    setSeconds(0);
    setSpeed('1');
    setCopy(URL.createObjectURL(chosen));
    opened();
  };
  const check = ({ currentTarget: { duration } }: JSX.TargetedEvent<HTMLAudioElement>) => {
    const wrong = lengthProblem(duration, record.duration_seconds);
    if (wrong) setProblem(`This file is ${length(wrong.found)} long, the recording ${length(wrong.wanted)}: it may be another one.`);
  };
  return (
    <section class="player no-print" aria-label="Player">
      <div class="strip">
        <Lanes {...{ record, colour, seek }} />
        {url && <i class="head-line" style={{ left: `${(100 * seconds) / Math.max(1, duration)}%` }} />}
      </div>
      <input
        ref={file}
        type="file"
        accept="audio/*,video/*"
        hidden
        aria-label="Your copy of the recording"
        onChange={() => open(file.current!.files?.[0])}
      />
      {url && (
        <>
          {/* biome-ignore lint/a11y/useMediaCaption: the text is the page */}
          <audio
            ref={audio}
            src={url}
            preload="metadata"
            onLoadedMetadata={check}
            onTimeUpdate={({ currentTarget: { currentTime } }) => setSeconds(currentTime)} // also when the page is left, without the ref
            onPlay={() => setPlaying(true)}
            onPause={() => setPlaying(false)}
            onError={({ currentTarget: { error } }) => {
              setPlaying(false);
              setProblem(
                copy ? 'This browser cannot play this file.' : error?.code === LOST ? NOT_LOADED : 'The recording cannot be played here.',
              );
            }}
          />
          <div class="row middle">
            <button type="button" class="small main" aria-keyshortcuts="Space" onClick={toggle}>
              {playing ? 'Pause' : 'Play'}
            </button>
            <span class="figure">
              {clock(seconds)} <span class="quiet">/ {clock(duration)}</span>
            </span>
            <input
              class="grow"
              type="range"
              aria-label="Position"
              aria-valuetext={clock(seconds)}
              min={0}
              max={Math.ceil(duration)}
              step={1}
              value={seconds}
              onInput={(event) => seek(Number((event.currentTarget as HTMLInputElement).value))}
            />
            <select
              aria-label="Speed"
              value={speed}
              onChange={(event) => {
                const chosen = (event.currentTarget as HTMLSelectElement).value;
                setSpeed(chosen);
                audio.current!.playbackRate = Number(chosen);
              }}
            >
              <Options of={SPEEDS.map((speed) => [speed, `${speed}×`])} />
            </select>
            <label class="check">
              <input
                type="checkbox"
                checked={following}
                onChange={(event) => setFollowing((event.currentTarget as HTMLInputElement).checked)}
              />{' '}
              Follow
            </label>
            <button type="button" class="small" onClick={() => file.current!.click()}>
              {copy ? 'Open another copy' : 'Open your copy'}
            </button>
          </div>
          {kept && !copy && (
            <p class="quiet">
              The recording is kept until {day(kept)}. <a href={recording}>Download</a>
            </p>
          )}
        </>
      )}
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {!url && (
        <p class="quiet">
          {kept === null && 'For privacy Longhand keeps only the text. '}
          <button type="button" class="small" onClick={() => file.current!.click()}>
            Open your copy
          </button>{' '}
          It is played here and never uploaded.
        </p>
      )}
    </section>
  );
}

/** Calls `each` for every picture that the browser draws. */
function useFrames(on: boolean, each: () => void): void {
  const latest = useRef(each);
  latest.current = each;
  useEffect(() => {
    if (!on) return;
    let frame = requestAnimationFrame(function step() {
      latest.current();
      frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [on]);
}

/** Keys for the whole page, where nothing that is typed into or pressed has the focus. */
function useKeys(on: boolean, keys: Record<string, () => void>): void {
  useEffect(() => {
    if (!on) return;
    const press = (event: KeyboardEvent) => {
      const key = keys[event.key];
      const busy = (event.target as Element).closest?.('input, textarea, select, button, summary, [contenteditable]');
      if (!key || busy || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      key();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}

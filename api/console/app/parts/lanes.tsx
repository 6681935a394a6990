import { useEffect, useRef } from 'preact/hooks';
import type { Segment, Transcription } from '../types.ts';

const LANE = 7; // pixels, with its gap
const MOST = 8; // lanes: further speakers share them, as they share colours

interface Props {
  record: Transcription;
  colour: (segment: Segment) => number;
  /** Somebody pointed at this second. */
  seek: (seconds: number) => void;
}

/** A lane per speaker, filled while they speak. */
export function Lanes({ record, colour, seek }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const lanes = Math.min(MOST, Math.max(1, record.speakers.length));
  const duration = record.duration_seconds || record.segments.at(-1)?.end || 1;
  useEffect(() => {
    const draw = () => paint(canvas.current!, record.segments, colour, lanes, duration);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const size = new ResizeObserver(draw);
    size.observe(canvas.current!);
    dark.addEventListener('change', draw);
    return () => {
      size.disconnect();
      dark.removeEventListener('change', draw);
    };
  }, [record]);
  const names = record.speakers.map(({ name }) => name).join(', ');
  return (
    <canvas
      ref={canvas}
      class="lanes"
      role="img"
      aria-label={`Who speaks when: ${names || 'one speaker'}`}
      style={{ height: `${lanes * LANE}px` }}
      onClick={(event) => {
        const { left, width } = canvas.current!.getBoundingClientRect();
        seek((duration * (event.clientX - left)) / width);
      }}
    />
  );
}

function paint(canvas: HTMLCanvasElement, segments: readonly Segment[], colour: Props['colour'], lanes: number, duration: number): void {
  const { clientWidth: width } = canvas;
  const scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = lanes * LANE * scale;
  const context = canvas.getContext('2d')!;
  context.scale(scale, scale);
  const colours = Array.from({ length: MOST }, (_, index) => coloursOf(canvas, index));
  for (const segment of segments) {
    const lane = colour(segment) % lanes;
    const from = ((segment.start ?? 0) / duration) * width;
    const to = ((segment.end ?? 0) / duration) * width;
    context.fillStyle = colours[colour(segment)]!;
    context.fillRect(from, lane * LANE + 1, Math.max(1, to - from), LANE - 2);
  }
}

/** A colour of the style sheet as it is in the theme that is shown. */
function coloursOf(canvas: HTMLCanvasElement, voice: number): string {
  const probe = document.createElement('i');
  probe.className = `voice-${voice} probe`;
  canvas.parentElement!.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

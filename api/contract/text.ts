/** The parts of a segment needed for a line of text. */
export interface Line {
  /** Seconds from the start of the recording. */
  start: number | null;
  /** Index of the speaker in order of first appearance, or the diarization id; null if not diarized. */
  speaker_id: string | null;
  speaker_name: string | null;
  text: string;
}

/**
 * The transcript as one string: a line `[mm:ss] <speaker>: <text>` per segment, LF between lines. Minutes count beyond 59, without hours.
 * Unnamed speakers are `Speaker 1`, `Speaker 2` … in order of first appearance.
 */
export function transcriptText(segments: readonly Line[]): string {
  const labels = genericLabels(segments);
  return segments
    .map(({ start, speaker_id, speaker_name, text }) => {
      const label = oneLine(speaker_name ?? '')
        .replace(/:/g, ' ')
        .replace(/ +/g, ' ')
        .trim();
      return `[${clock(start ?? 0)}] ${label || (labels.get(speaker_id) ?? 'Speaker 1')}: ${oneLine(text).trim()}`;
    })
    .join('\n');
}

/** `Speaker 1`, `Speaker 2` … for each id in order of first appearance; `Speaker 1` if not diarized. */
export function genericLabels(segments: readonly Pick<Line, 'speaker_id'>[]): Map<string | null, string> {
  const labels = new Map<string | null, string>();
  for (const { speaker_id } of segments) if (!labels.has(speaker_id)) labels.set(speaker_id, `Speaker ${labels.size + 1}`);
  return labels;
}

/** Seconds as `mm:ss`, rounded down; minutes count beyond 59 (`75:03`). */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${String(Math.floor(whole / 60)).padStart(2, '0')}:${String(whole % 60).padStart(2, '0')}`;
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\u0085\u2028\u2029]+/g, ' ');
}

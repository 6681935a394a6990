import type { TrueTurn } from '../recordings/clips.ts';

export interface Diarization {
  /** Relative to all reference speech. */
  error: number;
  miss: number;
  falseAlarm: number;
  confusion: number;
  /** 10 ms frames of reference speech, summed over speakers: the weight for averaging files. */
  weight: number;
  speakers: number;
  trueSpeakers: number;
}

const FRAMES = 100; // per second

/** Diarization error rate: no collar, overlapped speech included, best one-to-one mapping of speakers (NIST RT, as in pyannote.metrics). */
export function diarizationError(reference: readonly TrueTurn[], hypothesis: readonly TrueTurn[]): Diarization {
  const total = Math.ceil(Math.max(0, ...reference.map((t) => t.end), ...hypothesis.map((t) => t.end)) * FRAMES);
  const truth = activity(reference, total);
  const found = activity(hypothesis, total);
  const overlap = truth.map((a) => found.map((b) => a.reduce((sum, active, i) => sum + (active & b[i]!), 0)));
  const mapped = bestMapping(overlap);
  let [speech, miss, falseAlarm, confusion] = [0, 0, 0, 0];
  for (let i = 0; i < total; i++) {
    const r = truth.reduce((n, row) => n + row[i]!, 0);
    const h = found.reduce((n, row) => n + row[i]!, 0);
    const right = mapped.reduce((n, j, k) => n + (j >= 0 ? truth[k]![i]! & found[j]![i]! : 0), 0);
    speech += r;
    miss += Math.max(0, r - h);
    falseAlarm += Math.max(0, h - r);
    confusion += Math.min(r, h) - right;
  }
  const part = (n: number) => n / Math.max(1, speech);
  return {
    error: part(miss + falseAlarm + confusion),
    miss: part(miss),
    falseAlarm: part(falseAlarm),
    confusion: part(confusion),
    weight: speech,
    speakers: found.length,
    trueSpeakers: truth.length,
  };
}

function activity(turns: readonly TrueTurn[], total: number): Uint8Array[] {
  const rows = new Map<string, Uint8Array>();
  for (const turn of turns) {
    const row = rows.get(turn.speaker) ?? new Uint8Array(total);
    rows.set(turn.speaker, row.fill(1, Math.round(turn.start * FRAMES), Math.round(turn.end * FRAMES)));
  }
  return [...rows.values()];
}

/**
 * For each row the column assigned to it, or -1: the assignment with the largest sum (exact, Hungarian algorithm on the negated matrix).
 */
export function bestMapping(gain: readonly (readonly number[])[]): number[] {
  const n = Math.max(gain.length, gain[0]?.length ?? 0);
  const cost = (i: number, j: number) => -(gain[i]?.[j] ?? 0);
  const [u, v, match, way] = [0, 1, 2, 3].map(() => new Array<number>(n + 1).fill(0)) as [number[], number[], number[], number[]];
  for (let i = 1; i <= n; i++) {
    match[0] = i;
    let j0 = 0;
    const least = new Array<number>(n + 1).fill(Number.POSITIVE_INFINITY);
    const used = new Array<boolean>(n + 1).fill(false);
    do {
      used[j0] = true;
      let [delta, j1] = [Number.POSITIVE_INFINITY, 0];
      for (let j = 1; j <= n; j++) {
        if (used[j]) continue;
        const reduced = cost(match[j0]! - 1, j - 1) - u[match[j0]!]! - v[j]!;
        if (reduced < least[j]!) [least[j], way[j]] = [reduced, j0];
        if (least[j]! < delta) [delta, j1] = [least[j]!, j];
      }
      for (let j = 0; j <= n; j++) {
        if (used[j]) [u[match[j]!], v[j]] = [u[match[j]!]! + delta, v[j]! - delta];
        else least[j] = least[j]! - delta;
      }
      j0 = j1;
    } while (match[j0] !== 0);
    for (; j0; j0 = way[j0]!) match[j0] = match[way[j0]!]!;
  }
  const out = new Array<number>(gain.length).fill(-1);
  for (let j = 1; j <= (gain[0]?.length ?? 0); j++) if (match[j]! <= gain.length) out[match[j]! - 1] = j - 1;
  return out;
}

/** Weighted mean of several files. */
export function meanDiarization(
  all: readonly Diarization[],
): Pick<Diarization, 'error' | 'miss' | 'falseAlarm' | 'confusion'> & { rightCount: number; files: number } {
  const weight = all.reduce((sum, d) => sum + d.weight, 0) || 1;
  const mean = (of: (d: Diarization) => number) => all.reduce((sum, d) => sum + of(d) * d.weight, 0) / weight;
  return {
    error: mean((d) => d.error),
    miss: mean((d) => d.miss),
    falseAlarm: mean((d) => d.falseAlarm),
    confusion: mean((d) => d.confusion),
    rightCount: all.filter((d) => d.speakers === d.trueSpeakers).length,
    files: all.length,
  };
}

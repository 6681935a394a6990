import { lasting, type Piece } from './excerpts.ts';
import { dot } from './label.ts';
import { FRAMES } from './segmentation.ts';
import type { Track } from './tracks.ts';

/** Mean cosine above which two clusters are one person, on wide-band audio; the distance 0.47 found the right number most often. */
const USUAL = 0.53;
/** Margin above the cosine of different people, which is 0.34 on clean and noisy audio, 0.40 up to 4 kHz, 0.48 in the telephone band. */
const ABOVE = 0.175;
const LOWEST = 0.5;
const HIGHEST = 0.6;
const DOUBT = 5; // weight of the default value, in pairs
const CLEAR = 1.5; // minimum seconds of a piece to compare
const FOLLOWING = 15; // following pieces to compare with

/**
 * The cosine from which on two voices count as one, for this recording: in a narrow band all voices are similar. Two local speakers that
 * the segmentation model separates within one window are different people, and show how similar different people are here.
 */
export function likenessOf(pieces: Piece[], prints: Float32Array[], tracks: Track[]): number {
  const others = differentPeople(pieces, tracks).map(([a, b]) => dot(prints[a]!, prints[b]!));
  if (!others.length) return USUAL;
  const middle = others.toSorted((a, b) => a - b)[Math.floor(others.length / 2)]!;
  const trust = others.length / (others.length + DOUBT);
  return Math.min(HIGHEST, Math.max(LOWEST, USUAL + trust * (middle + ABOVE - USUAL)));
}

/** Pairs of pieces that one window assigned to two local speakers. */
function differentPeople(pieces: Piece[], tracks: Track[]): [number, number][] {
  const clear = pieces.map((_, i) => i).filter((i) => lasting(pieces[i]!) >= CLEAR);
  const order = clear.toSorted((a, b) => pieces[a]!.first - pieces[b]!.first);
  const pairs: [number, number][] = [];
  for (const [n, i] of order.entries()) {
    for (const j of order.slice(n + 1, n + 1 + FOLLOWING)) {
      const [a, b] = [pieces[i]!, pieces[j]!];
      if (a.track !== b.track && b.end - a.first <= FRAMES && seenTogether(tracks[a.track]!, tracks[b.track]!, b.first)) pairs.push([i, j]);
    }
  }
  return pairs;
}

/** Whether one window contains both tracks, and the later piece begins where both are known. */
function seenTogether(a: Track, b: Track, from: number): boolean {
  const first = Math.max(a.first, b.first);
  const end = Math.min(a.first + a.probability.length, b.first + b.probability.length);
  return end - first >= FRAMES && from >= first;
}

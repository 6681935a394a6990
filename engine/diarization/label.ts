import { lasting, type Piece } from './excerpts.ts';
import type { Track } from './tracks.ts';

const NEAR = 30; // frames: pieces further apart do not overlap
const REACH = 18; // frames around the common span in which overlap is searched
const OVERLAP = 6; // frames in which both are active: then they are two people
const LOOK = 12; // following pieces to compare with
const SHORT = 1; // seconds: the embedding of a shorter piece is doubtful, and the segmentation model's opinion counts as well
const TOLD = 0.15; // as this much cosine against the speaker of another nearby track, for a piece of length zero
const WITHIN = 240; // frames: nearby

/**
 * The speaker of each piece: the nearest one, except that two tracks active at once are two people, and the weaker match gets its second
 * choice.
 * @param prints unit vectors of the pieces
 * @param voices unit vectors of the speakers
 */
export function assign(pieces: Piece[], tracks: Track[], prints: Float32Array[], voices: Float32Array[]): Int32Array {
  const scores = prints.map((print) => Float32Array.from(voices, (voice) => dot(print, voice)));
  const who = Int32Array.from(scores, best);
  if (voices.length < 2) return who;
  const order = pieces.map((_, i) => i).sort((a, b) => pieces[a]!.first - pieces[b]!.first);
  tellApart(pieces, tracks, order, scores, who);
  const claim = (i: number) => lasting(pieces[i]!) * scores[i]![who[i]!]!;
  for (const [n, i] of order.entries()) {
    for (const j of order.slice(n + 1, n + LOOK)) {
      if (pieces[j]!.first >= pieces[i]!.end + NEAR) break;
      if (pieces[i]!.track === pieces[j]!.track || who[i] !== who[j] || !atOnce(pieces[i]!, pieces[j]!, tracks)) continue;
      const weaker = claim(i) <= claim(j) ? i : j;
      scores[weaker]![who[weaker]!] = -9;
      who[weaker] = best(scores[weaker]!);
    }
  }
  return who;
}

/**
 * Short pieces, whose embeddings are weak: the model separated several people in one window, so the speaker of another track right beside
 * such a piece becomes less likely, and the speaker of its own track more likely.
 */
function tellApart(pieces: Piece[], tracks: Track[], order: number[], scores: Float32Array[], who: Int32Array): void {
  for (const [n, i] of order.entries()) {
    const weight = TOLD * (1 - lasting(pieces[i]!) / SHORT);
    if (weight <= 0) continue;
    const [same, others] = [new Set<number>(), new Set<number>()];
    for (const j of [...order.slice(Math.max(0, n - LOOK), n), ...order.slice(n + 1, n + LOOK)]) {
      const [piece, other] = [pieces[i]!, pieces[j]!];
      const apart = Math.max(piece.first - other.end, other.first - piece.end);
      if (apart > WITHIN || lasting(other) < SHORT) continue;
      if (other.track === piece.track) same.add(who[j]!);
      else if (covers(tracks[other.track]!, piece) && covers(tracks[piece.track]!, other)) others.add(who[j]!);
    }
    for (const voice of others) if (!same.has(voice)) scores[i]![voice]! -= weight;
    for (const voice of same) if (!others.has(voice)) scores[i]![voice]! += weight;
  }
  for (const i of order) who[i] = best(scores[i]!);
}

/** Whether a track covers a whole piece. */
function covers({ first, probability }: Track, piece: Piece): boolean {
  return first <= piece.first && piece.end <= first + probability.length;
}

/** Whether the tracks of two pieces are both active where the pieces meet. */
function atOnce(a: Piece, b: Piece, tracks: Track[]): boolean {
  const from = Math.max(a.first, b.first) - REACH;
  const to = Math.min(a.end, b.end) + REACH;
  const active = ({ first, probability }: Track, frame: number) => (probability[frame - first] ?? 0) > 0.5;
  let both = 0;
  for (let frame = from; frame < to; frame++) if (active(tracks[a.track]!, frame) && active(tracks[b.track]!, frame)) both++;
  return both >= OVERLAP;
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k]! * b[k]!;
  return sum;
}

export function best(scores: ArrayLike<number>): number {
  let best = 0;
  for (let k = 1; k < scores.length; k++) if (scores[k]! > scores[best]!) best = k;
  return best;
}

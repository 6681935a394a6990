import { type Recording, SAMPLE_RATE, type Span } from '../types.ts';
import { powerSpectrum } from './spectrum.ts';

const COARSE = 512; // samples of a coarse window, which raises suspicion: 32 ms
const STRIDE = 1024; // samples between coarse windows
const FINE = 2048; // samples of a fine window, which distinguishes tones from voices: 128 ms, over which no voice holds its pitch that steadily
const HOP = 256; // samples: resolution of the ends of a tone, 16 ms
const LOWEST = 80; // hertz: mains hum does not count as sound
const PEAKS = 3; // simultaneous tones, side bands of a modulation included
const LEAST = 0.01; // share of the power below which a peak is ignored
const SKIRT = 8; // bins on either side of a peak: a voice spreads into them, because its pitch moves, a tone does not
const SPREAD = 0.007; // share of the power allowed there
const TELEPHONE = 300; // hertz: every signal's strongest tone is higher than this, and few voices have a higher pitch
const BLUR = 40; // hertz: a coarse window may place the strongest tone too low by this much
const LOBE = 2; // bins on either side of a peak that belong to it: main lobe of a pure tone
const SUSPECT = 0.75; // share of the power in the peaks of a coarse window that warrants a closer look
const PURE = 0.95; // the same of a fine window that makes it a tone: a voice 13 dB below it is inaudible
const SAME = 0.8; // share of the power at a tone's frequencies from which on it continues
const STILL = 1; // hertz: frequency tolerance from one fine window to the next
const STEADY = 0.3; // relative power tolerance between them
const VOICED = { lowest: 70, highest: 500, multiple: 3, near: 0.05, share: 0.05 }; // pitch (hertz), first harmonic, tolerance of the multiple, and its power
const CLICK = 4 * HOP; // samples: longest interruption of a tone, for example a phase jump
const CLOSE = 0.3; // seconds: whatever lies between two tones this close is part of the signal too
const FAINT = 1e-5; // RMS of silence (-100 dBFS)
const SHORTEST = 0.1; // shortest tone, seconds
const SILENT = 1e-3; // power relative to the tone that counts as silence after it (-30 dB)
const TAIL = 0.15 * SAMPLE_RATE; // longest such silence that belongs to the tone, samples: VAD starts and ends late
const PIECE = 30 * SAMPLE_RATE; // samples read at once

/**
 * Finds machine signals in detected speech: ringing, busy and dial tones, beeps, fax calls. Unlike a voice, nearly all their power lies at
 * one to three frequencies that are constant to the hertz; a voice has harmonics and varies. A voice over a tone adds power elsewhere, and
 * the span is then kept.
 */
export async function findTones(
  recording: Recording,
  channel: number | 'mix',
  speech: readonly Span[],
  signal?: AbortSignal,
): Promise<Span[]> {
  const tones: Span[] = [];
  for (const { start, end } of speech) {
    for (let from = Math.max(0, Math.floor(start * SAMPLE_RATE) - FINE); from < end * SAMPLE_RATE; from += PIECE) {
      signal?.throwIfAborted();
      const to = Math.min(from + PIECE + FINE, Math.ceil(end * SAMPLE_RATE) + FINE);
      const samples = await recording.read(channel, from, to);
      for (const { first, end } of tonesIn(samples)) {
        const tone = { start: (from + first) / SAMPLE_RATE, end: (from + end) / SAMPLE_RATE };
        const before = tones.at(-1);
        if (before && tone.start <= before.end + CLOSE) before.end = Math.max(before.end, tone.end);
        else tones.push(tone);
      }
    }
  }
  return tones.filter(({ start, end }) => end - start >= SHORTEST);
}

/** Samples, [first, end). */
interface Range {
  first: number;
  end: number;
}

function tonesIn(samples: Float32Array): Range[] {
  const found: Range[] = [];
  let done = 0;
  for (let at = 0; at + COARSE <= samples.length; at += STRIDE) {
    if (at < done || !isSuspect(samples, at)) continue;
    const middle = at + COARSE / 2;
    const tone = toneAt(samples, Math.max(FINE / 8, Math.min(samples.length - (9 * FINE) / 8, middle - FINE / 2)));
    if (!tone) continue;
    const range = extent(samples, middle, tone, done);
    found.push(range);
    done = range.end;
  }
  return found;
}

function isSuspect(samples: Float32Array, at: number): boolean {
  if (!heard(samples, at, COARSE)) return false;
  const { share, peaks } = peaksOf(powerSpectrum(samples, at, COARSE), COARSE);
  return share >= SUSPECT && peaks[0]!.frequency >= TELEPHONE - BLUR;
}

interface Peak {
  /** Hertz. */
  frequency: number;
  power: number;
}

interface Peaks {
  /** Share of the total power in the peaks. */
  share: number;
  power: number;
  /** Share of their power right beside them. */
  spread: number;
  /** Strongest first. */
  peaks: Peak[];
}

/** Frequencies in the fine window at `at` if it is a tone, which requires the same ones slightly earlier and later; else null. */
function toneAt(samples: Float32Array, at: number): number[] | null {
  let before: Peaks | null = null;
  for (const from of [at - FINE / 8, at, at + FINE / 8]) {
    if (from < 0 || from + FINE > samples.length || !heard(samples, from, FINE)) return null;
    const found = peaksOf(powerSpectrum(samples, from, FINE), FINE);
    if (found.share < PURE || found.spread > SPREAD || isVoiced(found) || (before && !isSteady(before, found))) return null;
    before = found;
  }
  return before!.peaks.map(({ frequency }) => frequency);
}

function isSteady(before: Peaks, now: Peaks): boolean {
  const same = before.peaks.every((one) => now.peaks.some((other) => Math.abs(one.frequency - other.frequency) <= STILL));
  return same && Math.abs(now.power / before.power - 1) <= STEADY;
}

/** Whether the peaks are a pitch or adjacent harmonics of one, as in a sustained vowel. */
function isVoiced({ peaks, power }: Peaks): boolean {
  if (peaks[0]!.frequency < TELEPHONE) return true;
  const strong = peaks.filter((peak) => peak.power >= VOICED.share * power).map(({ frequency }) => frequency);
  strong.sort((a, b) => a - b);
  return strong.slice(1).some((frequency, i) => {
    const pitch = frequency - strong[i]!;
    const multiple = strong[i]! / pitch;
    const whole = Math.round(multiple);
    return (
      pitch >= VOICED.lowest &&
      pitch <= VOICED.highest &&
      whole >= 1 &&
      whole <= VOICED.multiple &&
      Math.abs(multiple - whole) <= VOICED.near * whole
    );
  });
}

/** The strongest relevant peaks of a spectrum, at most PEAKS. */
function peaksOf(spectrum: Float64Array, size: number): Peaks {
  const width = SAMPLE_RATE / size;
  const lowest = Math.ceil(LOWEST / width);
  const left = spectrum.slice();
  let total = 1e-30;
  for (let k = lowest; k < left.length; k++) total += left[k]!;
  const peaks: Peak[] = [];
  let inside = 0;
  while (peaks.length < PEAKS) {
    let best = lowest;
    for (let k = lowest; k < left.length; k++) if (left[k]! > left[best]!) best = k;
    let [power, moment] = [0, 0];
    for (let k = Math.max(lowest, best - LOBE); k <= Math.min(left.length - 1, best + LOBE); k++) {
      power += left[k]!;
      moment += k * left[k]!;
      left[k] = 0;
    }
    if (peaks.length && power < LEAST * total) break;
    inside += power;
    peaks.push({ frequency: (width * moment) / (power || 1), power });
  }
  let beside = 0;
  for (let k = lowest; k < left.length; k++) {
    if (peaks.some(({ frequency }) => Math.abs(k - frequency / width) <= SKIRT)) beside += left[k]!;
  }
  return { share: inside / total, power: inside, spread: beside / (inside || 1), peaks };
}

/** Extent of the tone around `middle`, including adjacent silence; not before `earliest`. */
function extent(samples: Float32Array, middle: number, tone: readonly number[], earliest: number): Range {
  const sounds = (at: number) => heard(samples, at, COARSE) && shareAt(powerSpectrum(samples, at, COARSE), tone) >= SAME;
  let [first, last] = [middle - COARSE / 2, middle - COARSE / 2]; // starts of coarse windows
  const next = (at: number, step: number) => {
    for (let place = at + step; Math.abs(place - at) <= CLICK; place += step) {
      if (place >= earliest && place + COARSE <= samples.length && sounds(place)) return place;
    }
    return null;
  };
  for (let at = next(first, -HOP); at !== null; at = next(at, -HOP)) first = at;
  for (let at = next(last, HOP); at !== null; at = next(at, HOP)) last = at;
  const silence = SILENT * energy(samples, middle - COARSE / 2, COARSE);
  const silent = (at: number) => energy(samples, at, HOP) * (COARSE / HOP) < silence;
  const range = { first: first + HOP / 2, end: last + COARSE - HOP / 2 };
  const [from, to] = [Math.max(earliest, range.first - TAIL), Math.min(samples.length, range.end + TAIL)];
  while (range.first - HOP >= from && silent(range.first - HOP)) range.first -= HOP;
  while (range.end + HOP <= to && silent(range.end)) range.end += HOP;
  return range;
}

/** Share of a coarse window's power at the frequencies of a tone. */
function shareAt(power: Float64Array, tone: readonly number[]): number {
  const width = SAMPLE_RATE / COARSE;
  let [total, inside] = [1e-30, 0];
  for (let k = Math.ceil(LOWEST / width); k < power.length; k++) {
    total += power[k]!;
    if (tone.some((frequency) => Math.abs(k * width - frequency) <= LOBE * width)) inside += power[k]!;
  }
  return inside / total;
}

function heard(samples: Float32Array, at: number, count: number): boolean {
  return energy(samples, at, count) > count * FAINT * FAINT;
}

function energy(samples: Float32Array, at: number, count: number): number {
  let sum = 0;
  for (let i = at; i < at + count; i++) sum += samples[i]! * samples[i]!;
  return sum;
}

import type { Recording, Span } from '../types.ts';
import { powerSpectrum } from './spectrum.ts';

const RATE = 16_000;
const COARSE = 512; // samples of a window in which tones are suspected: 32 ms
const STRIDE = 1024; // samples between these
const FINE = 2048; // … and of one in which they are told from voices: 128 ms, over which no voice holds a pitch that still
const HOP = 256; // samples over which their ends are found: 16 ms
const LOWEST = 80; // hertz: mains hum does not count as sound
const PEAKS = 3; // tones that may sound together, side bands of a modulation included
const LEAST = 0.01; // share of the power below which a peak is none
const SKIRT = 8; // bins on either side of a peak into which a voice spreads, since its pitch moves, and a tone does not …
const SPREAD = 0.007; // … share of the power that may lie there
const TELEPHONE = 300; // hertz: the strongest tone of no signal is lower, and the pitch of few voices is higher
const BLUR = 40; // hertz by which a coarse window may place the strongest tone too low
const LOBE = 2; // bins on either side of a peak that belong to it: what a window makes of a pure tone
const SUSPECT = 0.75; // share of the power in the peaks of a coarse window from which on it is looked at more closely …
const PURE = 0.95; // … and of a fine one that is a tone: a voice 13 dB below it is no longer heard
const SAME = 0.8; // share of the power at the frequencies of a tone from which on it still sounds
const STILL = 1; // hertz by which its frequencies may differ from one fine window to the next …
const STEADY = 0.3; // … and share by which its power may
const VOICED = { lowest: 70, highest: 500, multiple: 3, near: 0.05, share: 0.05 }; // pitch (hertz), first harmonic, how exactly a multiple, and its power
const CLICK = 4 * HOP; // samples after which a tone may go on, as where its phase leaps
const CLOSE = 0.3; // seconds: what lies between two tones that near is the machine's as well
const FAINT = 1e-5; // root mean square below which nothing sounds (-100 dBFS)
const SHORTEST = 0.1; // seconds of a tone
const SILENT = 1e-3; // power compared with a tone's, below which there is silence after it (-30 dB) …
const TAIL = 0.15 * RATE; // … which is its own for so many samples at most: speech detection is slow to begin and to end
const PIECE = 30 * RATE; // samples read at once

/**
 * Finds the signals of machines in what was taken for speech: ringing, engaged and dial tones, beeps, fax calls. They are told from voices by what holds for
 * all of them: nearly all their power lies at one to three frequencies that stay the same to the hertz, while a voice has harmonics and wavers.
 * A voice that sounds over a tone adds power elsewhere: then it is no tone.
 */
export async function findTones(
  recording: Recording,
  channel: number | 'mix',
  speech: readonly Span[],
  signal?: AbortSignal,
): Promise<Span[]> {
  const tones: Span[] = [];
  for (const { start, end } of speech) {
    for (let from = Math.max(0, Math.floor(start * RATE) - FINE); from < end * RATE; from += PIECE) {
      signal?.throwIfAborted();
      const to = Math.min(from + PIECE + FINE, Math.ceil(end * RATE) + FINE);
      const samples = await recording.read(channel, from, to);
      for (const { first, end } of tonesIn(samples)) {
        const tone = { start: (from + first) / RATE, end: (from + end) / RATE };
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
  /** Share of all power that lies in them. */
  share: number;
  power: number;
  /** Share of theirs that lies right beside them. */
  spread: number;
  /** The strongest first. */
  peaks: Peak[];
}

/** The frequencies that sound in the fine window at `at`, or null where it is no tone: those a little earlier and later are the same. */
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

/** Whether the peaks are a pitch, or neighbouring harmonics of one, as in a vowel that is held. */
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

/** The strongest peaks of a spectrum that matter, at most PEAKS. */
function peaksOf(spectrum: Float64Array, size: number): Peaks {
  const width = RATE / size;
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

/** How far the tone that sounds at `middle` reaches, with the silence around it; not before `earliest`. */
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

/** Share of the power of a coarse window that lies at the frequencies of a tone. */
function shareAt(power: Float64Array, tone: readonly number[]): number {
  const width = RATE / COARSE;
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

import { type Recording, SAMPLE_RATE, type Span } from '../../types.ts';
import {
  isVoiced,
  LOBE_BINS,
  LOBE_WIDTH,
  lowestBin,
  MAX_PEAKS,
  MIN_HERTZ,
  MIN_TONE_HERTZ,
  type Peaks,
  peaksOf,
  powerFrom,
  spreadOf,
  takePeak,
} from './peaks.ts';
import { piecesOf } from './pieces.ts';
import { Pulses } from './pulses.ts';
import { windowedSpectrum } from './spectrum.ts';

const COARSE_SAMPLES = 512; // samples of a coarse window, which raises suspicion: 32 ms
const STRIDE_SAMPLES = 1024; // samples between coarse windows
const FINE_SAMPLES = 2048; // samples of a fine window, which distinguishes tones from voices: 128 ms, over which no voice holds its pitch that steadily
const HOP_SAMPLES = 256; // resolution of the ends of a tone, 16 ms
const MAX_SKIRT_SHARE = 0.007; // share of the power allowed there
const COARSE_ERROR_HERTZ = 40; // a coarse window may place the strongest tone too low by this much
const SUSPECT_PEAK_SHARE = 0.9; // share of the power in the peaks of a coarse window that warrants a closer look
const TONE_PEAK_SHARE = 0.95; // the same of a fine window that makes it a tone: a voice 13 dB below it is inaudible
const SAME_TONE_SHARE = 0.88; // share of the power at a tone's frequencies from which on it continues: a voice 9 dB below it ends it
const FREQUENCY_TOLERANCE_HERTZ = 1; // from one fine window to the next
const POWER_TOLERANCE = 0.3; // relative, between them
const MAX_HALF_RATIO = 3; // energy of the halves of a fine window, which spares most of speech the transform: of ringing at most 1.7, of beats of 10 Hz 2.4
const MAX_CLICK_SAMPLES = 4 * HOP_SAMPLES; // longest interruption of a tone, for example a phase jump
const MAX_PAUSE_SECONDS = 0.3; // whatever lies between two tones this close is part of the signal too, unless it is louder than they are
const MAX_PAUSE_POWER = 1.12; // relative to the louder one: a voice over a tone that goes on, 9 dB below it
const SILENCE_RMS = 1e-5; // RMS of silence (-100 dBFS)
const MIN_TONE_SECONDS = 0.1;
const SILENT_POWER = 1e-3; // power relative to the tone that counts as silence after it (-30 dB)
const MAX_TAIL_SAMPLES = 0.15 * SAMPLE_RATE; // longest such silence that belongs to the tone, samples: VAD starts and ends late

/**
 * Finds machine signals: ringing, busy and dial tones, beeps, fax calls. Unlike a voice, nearly all their power lies at one to three
 * frequencies that are constant to the hertz; a voice has harmonics and varies. A voice over a tone adds power elsewhere, and the span is
 * then kept. Pulses too short for that are found in rows.
 */
export async function findTones(recording: Recording, channel: number | 'mix', signal?: AbortSignal): Promise<Span[]> {
  const tones: Span[] = [];
  const pulses = new Pulses();
  for await (const piece of piecesOf(recording, channel, signal)) {
    pulses.add(piece);
    const { from, to, start } = piece;
    const samples = piece.samples.subarray(from - start, to + FINE_SAMPLES - start);
    for (const { first, end } of tonesIn(samples)) {
      const tone = { start: (from + first) / SAMPLE_RATE, end: (from + end) / SAMPLE_RATE };
      const before = tones.at(-1);
      if (
        before &&
        tone.start <= before.end + MAX_PAUSE_SECONDS &&
        !isLouder(samples, Math.round(before.end * SAMPLE_RATE) - from, { first, end })
      )
        before.end = Math.max(before.end, tone.end);
      else tones.push(tone);
    }
  }
  const long = tones.filter(({ start, end }) => end - start >= MIN_TONE_SECONDS);
  return merged([...long, ...pulses.spans()]);
}

/** Whether what precedes a tone, from `since` on, is louder than the tones on either side of it. */
function isLouder(samples: Float32Array, since: number, { first, end }: Range): boolean {
  const pause = Math.max(0, since);
  const powerOf = (from: number, to: number) => energy(samples, from, to - from) / Math.max(1, to - from);
  const tones = Math.max(powerOf(Math.max(0, since - COARSE_SAMPLES), pause), powerOf(first, end));
  return pause < first && powerOf(pause, first) > MAX_PAUSE_POWER * tones;
}

/** Spans in order, overlapping ones as one. */
function merged(spans: Span[]): Span[] {
  const all: Span[] = [];
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const before = all.at(-1);
    if (before && span.start <= before.end) before.end = Math.max(before.end, span.end);
    else all.push(span);
  }
  return all;
}

/** Samples, [first, end). */
interface Range {
  first: number;
  end: number;
}

function tonesIn(samples: Float32Array): Range[] {
  const found: Range[] = [];
  let done = 0;
  for (let at = 0; at + COARSE_SAMPLES <= samples.length; at += STRIDE_SAMPLES) {
    if (at < done || !isSuspect(samples, at)) continue;
    const middle = at + COARSE_SAMPLES / 2;
    const tone = toneAt(samples, Math.max(FINE_SAMPLES / 8, Math.min(samples.length - (9 * FINE_SAMPLES) / 8, middle - FINE_SAMPLES / 2)));
    if (!tone) continue;
    const range = extent(samples, middle, tone, done);
    found.push(range);
    done = range.end;
  }
  return found;
}

function isSuspect(samples: Float32Array, at: number): boolean {
  if (!heard(samples, at, COARSE_SAMPLES)) return false;
  const spectrum = windowedSpectrum(samples, at, COARSE_SAMPLES);
  const width = SAMPLE_RATE / COARSE_SAMPLES;
  const wanted = SUSPECT_PEAK_SHARE * powerFrom(spectrum, lowestBin(width));
  let inside = 0;
  for (let count = 0; count < MAX_PEAKS; count++) {
    const { frequency, power, highest } = takePeak(spectrum, width);
    if (count === 0 && frequency < MIN_TONE_HERTZ - COARSE_ERROR_HERTZ) return false;
    inside += power;
    if (inside >= wanted) return true;
    if (inside + (MAX_PEAKS - 1 - count) * LOBE_WIDTH * highest < wanted) return false; // no later peak is higher
  }
  return false;
}

/** Frequencies in the fine window at `at` if it is a tone, which requires the same ones slightly earlier and later; else null. */
function toneAt(samples: Float32Array, at: number): number[] | null {
  let before: Peaks | null = null;
  for (const from of [at - FINE_SAMPLES / 8, at, at + FINE_SAMPLES / 8]) {
    if (from < 0 || from + FINE_SAMPLES > samples.length || !isEven(samples, from)) return null;
    const spectrum = windowedSpectrum(samples, from, FINE_SAMPLES);
    const width = SAMPLE_RATE / FINE_SAMPLES;
    const found = peaksOf(spectrum, width);
    if (found.share < TONE_PEAK_SHARE || isVoiced(found) || (before && !isSteady(before, found))) return null;
    if (spreadOf(spectrum, found, width) > MAX_SKIRT_SHARE) return null;
    before = found;
  }
  return before!.peaks.map(({ frequency }) => frequency);
}

/** Whether a fine window is heard, and about as loud in both its halves. */
function isEven(samples: Float32Array, from: number): boolean {
  const first = energy(samples, from, FINE_SAMPLES / 2);
  const second = energy(samples, from + FINE_SAMPLES / 2, FINE_SAMPLES / 2);
  return Math.min(first, second) * MAX_HALF_RATIO >= Math.max(first, second) && first + second > FINE_SAMPLES * SILENCE_RMS * SILENCE_RMS;
}

function isSteady(before: Peaks, now: Peaks): boolean {
  const same = before.peaks.every((one) =>
    now.peaks.some((other) => Math.abs(one.frequency - other.frequency) <= FREQUENCY_TOLERANCE_HERTZ),
  );
  return same && Math.abs(now.power / before.power - 1) <= POWER_TOLERANCE;
}

/** Extent of the tone around `middle`, including adjacent silence; not before `earliest`. */
function extent(samples: Float32Array, middle: number, tone: readonly number[], earliest: number): Range {
  const sounds = (at: number) =>
    heard(samples, at, COARSE_SAMPLES) && shareAt(windowedSpectrum(samples, at, COARSE_SAMPLES), tone) >= SAME_TONE_SHARE;
  let [first, last] = [middle - COARSE_SAMPLES / 2, middle - COARSE_SAMPLES / 2]; // starts of coarse windows
  const next = (at: number, step: number) => {
    for (let place = at + step; Math.abs(place - at) <= MAX_CLICK_SAMPLES; place += step) {
      if (place >= earliest && place + COARSE_SAMPLES <= samples.length && sounds(place)) return place;
    }
    return null;
  };
  for (let at = next(first, -HOP_SAMPLES); at !== null; at = next(at, -HOP_SAMPLES)) first = at;
  for (let at = next(last, HOP_SAMPLES); at !== null; at = next(at, HOP_SAMPLES)) last = at;
  const silence = SILENT_POWER * energy(samples, middle - COARSE_SAMPLES / 2, COARSE_SAMPLES);
  const silent = (at: number) => energy(samples, at, HOP_SAMPLES) * (COARSE_SAMPLES / HOP_SAMPLES) < silence;
  const range = { first: first + HOP_SAMPLES / 2, end: last + COARSE_SAMPLES - HOP_SAMPLES / 2 };
  const [from, to] = [Math.max(earliest, range.first - MAX_TAIL_SAMPLES), Math.min(samples.length, range.end + MAX_TAIL_SAMPLES)];
  while (range.first - HOP_SAMPLES >= from && silent(range.first - HOP_SAMPLES)) range.first -= HOP_SAMPLES;
  while (range.end + HOP_SAMPLES <= to && silent(range.end)) range.end += HOP_SAMPLES;
  return range;
}

/** Share of a coarse window's power at the frequencies of a tone. */
function shareAt(power: Float64Array, tone: readonly number[]): number {
  const width = SAMPLE_RATE / COARSE_SAMPLES;
  let [total, inside] = [1e-30, 0];
  for (let k = Math.ceil(MIN_HERTZ / width); k < power.length; k++) {
    total += power[k]!;
    if (tone.some((frequency) => Math.abs(k * width - frequency) <= LOBE_BINS * width)) inside += power[k]!;
  }
  return inside / total;
}

function heard(samples: Float32Array, at: number, count: number): boolean {
  return energy(samples, at, count) > count * SILENCE_RMS * SILENCE_RMS;
}

function energy(samples: Float32Array, at: number, count: number): number {
  let sum = 0;
  for (let i = at; i < at + count; i++) sum += samples[i]! * samples[i]!;
  return sum;
}

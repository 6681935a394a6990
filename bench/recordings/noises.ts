import type { Random } from '../random.ts';
import { SAMPLE_RATE } from './sound.ts';

/** Sounds without speech, on which every word is a hallucination. Seconds -> samples. */
export const NOISES: Record<string, (seconds: number, random: Random) => Float32Array> = {
  silence: (seconds) => new Float32Array(seconds * SAMPLE_RATE),
  'white noise': (seconds, random) => new Float32Array(seconds * SAMPLE_RATE).map(() => 0.05 * random.normal()),
  'pink noise': (seconds, random) => {
    let [a, b, c] = [0, 0, 0];
    return new Float32Array(seconds * SAMPLE_RATE).map(() => {
      const white = random.normal();
      a = 0.997 * a + 0.03 * white;
      b = 0.985 * b + 0.05 * white;
      c = 0.95 * c + 0.08 * white;
      return 0.1 * (a + b + c);
    });
  },
  'ring tone': (seconds) =>
    new Float32Array(seconds * SAMPLE_RATE).map((_, i) =>
      (i / SAMPLE_RATE) % 3 < 1
        ? 0.2 * (Math.sin((2 * Math.PI * 440 * i) / SAMPLE_RATE) + Math.sin((2 * Math.PI * 480 * i) / SAMPLE_RATE))
        : 0,
    ),
  'hold music': (seconds, random) => {
    const out = new Float32Array(seconds * SAMPLE_RATE);
    const scale = [0, 2, 4, 7, 9, 12, 14, 16];
    for (let beat = 0; beat * 0.4 < seconds; beat++) {
      for (const voice of [0.5, 1, 2]) {
        const hertz = 220 * voice * 2 ** (random.pick(scale) / 12);
        for (let i = 0; i < 0.5 * SAMPLE_RATE; i++) {
          const at = Math.round(beat * 0.4 * SAMPLE_RATE) + i;
          if (at < out.length)
            out[at] =
              out[at]! +
              0.06 *
                Math.exp((-4 * i) / SAMPLE_RATE) *
                (Math.sin((2 * Math.PI * hertz * i) / SAMPLE_RATE) + 0.4 * Math.sin((4 * Math.PI * hertz * i) / SAMPLE_RATE));
        }
      }
    }
    return out;
  },
  breathing: (seconds, random) => {
    let low = 0;
    return new Float32Array(seconds * SAMPLE_RATE).map((_, i) => {
      low = 0.9 * low + 0.1 * random.normal();
      return 0.2 * low * Math.max(0, Math.sin((2 * Math.PI * i) / SAMPLE_RATE / 3.7)) ** 2;
    });
  },
};

interface Tune {
  /** Pitch and amplitude by time. */
  hertz: (seconds: number) => number;
  amplitude: (seconds: number) => number;
  /** Harmonic h has 1 / h ** tilt of the amplitude. */
  tilt: number;
  /** Resonances: centre and half width, hertz. */
  formants?: readonly (readonly [number, number])[];
  /** Noise relative to the first harmonic. */
  breath?: number;
}

/** A sound of harmonics, as a throat, a string or a reed makes it. */
function tune({ hertz, amplitude, tilt, formants = [], breath = 0 }: Tune) {
  return (seconds: number, random: Random) => {
    let cycles = 0;
    return new Float32Array(seconds * SAMPLE_RATE).map((_, i) => {
      const time = i / SAMPLE_RATE;
      const pitch = hertz(time);
      cycles += pitch / SAMPLE_RATE;
      let sum = breath * random.normal();
      for (let h = 1; h < 40 && h * pitch < 7500; h++) {
        const gain = formants.reduce((product, [centre, width]) => product * (0.15 + 1 / (1 + ((h * pitch - centre) / width) ** 2)), 1);
        sum += h ** -tilt * gain * Math.sin(2 * Math.PI * h * cycles);
      }
      return 0.15 * amplitude(time) * sum;
    });
  };
}

const MELODY = [0, 2, 4, 5, 7, 5, 4, 2, 0, 7, 9, 7]; // semitones
const note = (base: number, length: number) => (time: number) => base * 2 ** (MELODY[Math.floor(time / length) % MELODY.length]! / 12);
const vibrato = (base: number, length: number) => (time: number) =>
  note(base, length)(time) * (1 + 0.012 * Math.sin(2 * Math.PI * 5.5 * time));
const notes = (length: number) => (time: number) => Math.min(1, (time % length) * 20, (length - (time % length)) * 20);

/** Sounds that speech detection may take for a voice. */
export const VOICELIKE: typeof NOISES = {
  humming: tune({ hertz: vibrato(110, 1.4), amplitude: notes(1.4), tilt: 1.5, formants: [[300, 120]], breath: 0.02 }),
  violin: tune({ hertz: vibrato(440, 0.5), amplitude: notes(0.5), tilt: 0.9 }),
  trumpet: tune({ hertz: note(330, 0.3), amplitude: notes(0.3), tilt: 0.5 }),
  whistling: tune({ hertz: vibrato(1200, 0.4), amplitude: notes(0.4), tilt: 4 }),
  siren: tune({ hertz: (time) => 700 + 400 * Math.sin((2 * Math.PI * time) / 3), amplitude: () => 1, tilt: 1 }),
  'a crying child': tune({
    ...{ hertz: (time) => 420 + 120 * Math.sin((Math.PI * (time % 1.3)) / 1.3), amplitude: notes(1.3), tilt: 0.8 },
    formants: [
      [1100, 300],
      [2900, 400],
    ],
  }),
  laughter: tune({
    ...{ hertz: (time) => 250 - 30 * (time % 2), amplitude: (time) => (time % 2 < 1.4 && time % 0.2 < 0.1 ? notes(0.1)(time) : 0) },
    ...{ tilt: 1, breath: 0.3 },
    formants: [
      [700, 150],
      [1200, 200],
    ],
  }),
};

/** The buzz of a GSM telephone beside a microphone at a time in seconds: pulses of 1/8 of a frame, 26 frames in 120 ms, up to 7.6 kHz. */
export function telephoneBuzz(time: number): number {
  let sum = 0;
  for (let k = 1; k <= 35; k++) {
    const angle = (Math.PI * k) / 8;
    sum += (Math.sin(angle) / angle) * Math.cos((2 * Math.PI * k * 650 * time) / 3);
  }
  return sum / 10;
}

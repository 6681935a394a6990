export const FRAME = 400; // samples: 25 ms, Whisper's
const HALF = FRAME / 2;
const PART = FRAME / 4;

/**
 * The frames of sound that an encoder hears, folded about their middles: [4 x frames x 100], where the middle of frame f is sample f * hop and sound goes on
 * beyond both ends as in a mirror. The parts of a frame are, for samples at even distances from its middle, the sums and the differences (later less
 * earlier) of both sides, then the same at odd distances: what a Fourier transform needs of it (models/build/mel.ts).
 * @param samples frames * hop of them, at 16 kHz
 * @param into memory for the result
 */
export function foldedFrames(samples: Float32Array, hop: number, into: Float32Array): Float32Array {
  const frames = samples.length / hop;
  const size = frames * PART;
  const mirrored = withMirrors(samples);
  for (let f = 0, at = 0; f < frames; f++) {
    const middle = HALF + f * hop;
    for (let distance = 0; distance < HALF; distance += 2, at++) {
      const [after, before] = [mirrored[middle + distance]!, mirrored[middle - distance]!];
      const [next, last] = [mirrored[middle + distance + 1]!, mirrored[middle - distance - 1]!];
      into[at] = after + before;
      into[size + at] = after - before;
      into[2 * size + at] = next + last;
      into[3 * size + at] = next - last;
    }
    into[at - PART] = mirrored[middle]!; // it is in no pair
  }
  return into.subarray(0, 4 * size);
}

function withMirrors(samples: Float32Array): Float32Array {
  const { length } = samples;
  const mirrored = new Float32Array(length + FRAME);
  mirrored.set(samples, HALF);
  for (let i = 1; i <= HALF; i++) {
    mirrored[HALF - i] = samples[i]!;
    mirrored[HALF + length - 1 + i] = samples[length - 1 - i]!;
  }
  return mirrored;
}

export const FRAME_SAMPLES = 400; // samples: 25 ms, Whisper's
/** Samples of a frame on either side of its middle. */
export const MARGIN_SAMPLES = FRAME_SAMPLES / 2;
const PART_SAMPLES = FRAME_SAMPLES / 4;

/**
 * Frames of samples for the encoder, folded about their middles: [4 x frames x 100], where the middle of frame f is sample f * hop and the
 * signal is mirrored beyond both ends. The parts of a frame are, for samples at even distances from its middle, the sums and the
 * differences (later minus earlier) of both sides, then the same at odd distances: the input of the folded DFT
 * (models/build/whisper/mel.ts).
 * @param sound frames * hop samples at 16 kHz, between margins of MARGIN_SAMPLES samples that are written here
 * @param into memory for the result
 */
export function foldedFrames(sound: Float32Array, hop: number, into: Float32Array): Float32Array {
  const frames = (sound.length - 2 * MARGIN_SAMPLES) / hop;
  const size = frames * PART_SAMPLES;
  mirror(sound);
  for (let f = 0, at = 0; f < frames; f++) {
    const middle = MARGIN_SAMPLES + f * hop;
    for (let distance = 0; distance < MARGIN_SAMPLES; distance += 2, at++) {
      const after = sound[middle + distance]!; // not destructured, which allocated 24 MB per window
      const before = sound[middle - distance]!;
      const next = sound[middle + distance + 1]!;
      const last = sound[middle - distance - 1]!;
      into[at] = after + before;
      into[size + at] = after - before;
      into[2 * size + at] = next + last;
      into[3 * size + at] = next - last;
    }
    into[at - PART_SAMPLES] = sound[middle]!; // it has no counterpart
  }
  return into.subarray(0, 4 * size);
}

/** Writes the mirrored margins. */
function mirror(sound: Float32Array): void {
  const last = sound.length - 1 - MARGIN_SAMPLES;
  for (let i = 1; i <= MARGIN_SAMPLES; i++) {
    sound[MARGIN_SAMPLES - i] = sound[MARGIN_SAMPLES + i]!;
    sound[last + i] = sound[last - i]!;
  }
}

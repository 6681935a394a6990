import { createReadStream } from 'node:fs';
import type { Part } from './ogg.ts';

const MAX_STEP_SECONDS = 600; // from one timestamp of any stream to the next; a longer one is a pause of everything, or a reset

interface Reader {
  /** Yields the timestamps that the bytes complete. */
  push(bytes: Buffer): Iterable<{ clock: number; seconds: number }>;
}

const READERS: Record<string, () => Reader> = { flv: flvReader, mpegts: transportReader };

/**
 * Whether the clock of a broadcast (FLV, MPEG-TS) runs through, by the timestamps of all its streams, so that a leap in one of them is a
 * pause: a muted microphone beside a picture. False in other formats, and if there are no timestamps.
 */
export async function isContinuous(
  path: string,
  format: string,
  { start, end }: Pick<Part, 'start' | 'end'>,
  signal?: AbortSignal,
): Promise<boolean> {
  const reader = READERS[format]?.();
  if (!reader) return false;
  const last = new Map<number, number>();
  for await (const bytes of createReadStream(path, { signal, start, end: end - 1, highWaterMark: 2 ** 20 })) {
    for (const { clock, seconds } of reader.push(bytes as Buffer)) {
      if (seconds - (last.get(clock) ?? seconds) > MAX_STEP_SECONDS) return false;
      last.set(clock, seconds);
    }
  }
  return last.size > 0;
}

const FLV = { head: 13, tag: 11, trailer: 4, sound: 8, picture: 9 };

/** Tags of sound and pictures. */
function flvReader(): Reader {
  let held = Buffer.alloc(0);
  let skip = FLV.head; // bytes before the next tag
  return {
    *push(bytes) {
      const data = Buffer.concat([held, bytes]);
      while (skip + FLV.tag <= data.length) {
        const [type, size] = [data[skip]!, data.readUIntBE(skip + 1, 3)];
        const milliseconds = data.readUIntBE(skip + 4, 3) + data[skip + 7]! * 2 ** 24;
        if (type === FLV.sound || type === FLV.picture) yield { clock: 0, seconds: milliseconds / 1000 };
        skip += FLV.tag + size + FLV.trailer;
      }
      held = data.subarray(Math.min(skip, data.length));
      skip -= data.length - held.length;
    },
  };
}

const TRANSPORT = { sync: 0x47, sizes: [188, 192, 204], most: 204 * 5, ticks: 90_000 };

/** Clock references of a transport stream, of each program. */
function transportReader(): Reader {
  let held = Buffer.alloc(0);
  let size = 0; // of a packet, once known
  return {
    *push(bytes) {
      const data = Buffer.concat([held, bytes]);
      let at = 0;
      for (; at + TRANSPORT.most <= data.length; at += size || 1) {
        if (!size || data[at] !== TRANSPORT.sync)
          size = TRANSPORT.sizes.find((size) => [0, 1, 2, 3].every((i) => data[at + i * size] === TRANSPORT.sync)) ?? 0;
        const hasReference = size && data[at + 3]! & 0x20 && data[at + 4]! >= 7 && data[at + 5]! & 0x10;
        if (hasReference) yield { clock: data.readUInt16BE(at + 1) & 0x1fff, seconds: (data.readUInt32BE(at + 6) * 2) / TRANSPORT.ticks };
      }
      held = data.subarray(at);
    },
  };
}

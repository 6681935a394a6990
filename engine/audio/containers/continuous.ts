import type { Part } from './ogg.ts';
import { bytesOf } from './read.ts';
import { packetId, TransportReader } from './transport.ts';

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
  for await (const bytes of bytesOf(path, { signal, start, end })) {
    for (const { clock, seconds } of reader.push(bytes)) {
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

const TICKS_PER_SECOND = 90_000;

/** Clock references of a transport stream, of each program. */
function transportReader(): Reader {
  const reader = new TransportReader((data, at) => Boolean(data[at + 3]! & 0x20 && data[at + 4]! >= 7 && data[at + 5]! & 0x10));
  return {
    *push(bytes) {
      for (const { packet } of reader.push(bytes))
        yield { clock: packetId(packet), seconds: (packet.readUInt32BE(6) * 2) / TICKS_PER_SECOND };
    },
  };
}

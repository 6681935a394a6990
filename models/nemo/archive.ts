import { closeSync, createReadStream, createWriteStream, fstatSync, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type Region, readAll, readBuffer } from './region.ts';
import { tarMembers } from './tar.ts';

/** A .nemo file: a tar archive, sometimes compressed, with a configuration and the weights. */
export interface Archive {
  /** Text of model_config.yaml. */
  config: string;
  /** model_weights.ckpt. */
  weights: Region;
  close(): void;
}

const CONFIG = 'model_config.yaml';
const WEIGHTS = 'model_weights.ckpt';
const MOST_CONFIG = 2 ** 24; // bytes
const MOST_GROWTH = 8; // by unpacking; weights become 1.1 times as large
const GZIP = [0x1f, 0x8b];
const SMALL = 1024; // bytes: smaller files are Git LFS pointers

/**
 * Opens a .nemo file. The weights of an uncompressed one are read in place.
 * @param scratch path of a file to unpack a compressed one to; the caller removes it
 */
export async function openArchive(path: string, scratch: string, signal?: AbortSignal): Promise<Archive> {
  const { size } = await stat(path);
  if (size < SMALL) throw new Error(`found ${size} bytes, as a Git LFS pointer has; download the file itself`);
  const compressed = isCompressed(path);
  if (compressed) await unpack(path, scratch, MOST_GROWTH * size, signal);
  const file = openSync(compressed ? scratch : path, 'r');
  try {
    const members = tarMembers({ file, from: 0, bytes: fstatSync(file).size });
    const [config, weights] = [members.get(CONFIG), members.get(WEIGHTS)];
    if (!config || !weights) {
      const names = [...members.keys()].slice(0, 8).join(', ').slice(0, 200);
      throw new Error(`found ${names || 'no files'} in the archive, wanted ${CONFIG} and ${WEIGHTS} as in NeMo's ASR models`);
    }
    if (config.bytes > MOST_CONFIG) throw new Error(`found a ${CONFIG} of ${config.bytes} bytes, wanted at most ${MOST_CONFIG}`);
    return { config: readBuffer(config).toString('utf8'), weights, close: () => closeSync(file) };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function isCompressed(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const head = readAll({ file, from: 0, bytes: GZIP.length });
    return GZIP.every((byte, i) => head[i] === byte);
  } finally {
    closeSync(file);
  }
}

/** Unpacks a gzip file to another, of at most `most` bytes. */
async function unpack(path: string, scratch: string, most: number, signal?: AbortSignal): Promise<void> {
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(bytes > most ? new Error(`found more than ${MOST_GROWTH} times its size in the compressed file, wanted weights`) : null, chunk);
    },
  });
  try {
    await pipeline(createReadStream(path), createGunzip(), counted, createWriteStream(scratch, { flags: 'wx', mode: 0o600 }), { signal });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw code?.startsWith('Z_') ? new Error(`found damaged gzip data (${message}); download the file again`, { cause }) : cause;
  }
}

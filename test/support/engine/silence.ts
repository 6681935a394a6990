import type { TestConsole } from '../console/browser.ts';

const HEAD = 44; // bytes
const RATE = 3_000; // bytes a second: 8 bits at 3 kHz, the least that browsers play

const PIECE = 60; // seconds

/** Silence as a WAV file, in pieces of a minute: hours of it do not lie in memory. */
export function* silence(seconds: number): Generator<Buffer> {
  const head = Buffer.alloc(HEAD);
  head.write('RIFF', 0);
  head.writeUInt32LE(HEAD - 8 + RATE * seconds, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20); // PCM
  head.writeUInt16LE(1, 22); // channel
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(RATE * seconds, 40);
  yield head;
  for (let left = seconds; left > 0; left -= PIECE) yield Buffer.alloc(RATE * Math.min(left, PIECE), 128);
}

/** Stores silence as the kept recording of a completed transcription. */
export async function keepSilence({ db, vault, spool, workspace }: TestConsole, id: string, seconds: number): Promise<void> {
  const writer = await spool.create(id, 'mp3');
  for (const piece of silence(seconds)) await writer.write(piece);
  const { bytes, key } = await writer.finish();
  const sealed = await vault.seal(workspace, `transcriptions|${id}|media_key`, key);
  await db.query(
    '*',
    `update transcriptions set media_key_sealed = ?, media_bytes = ?, completed_at = now(), media_until = now() + interval '7 days' where id = ?`,
    [sealed, bytes, id],
  );
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { type Event, MatroskaReader } from '../../../../engine/audio/containers/matroska.ts';
import { findTools } from '../../../../engine/audio/decode.ts';

const { ffmpeg } = await findTools();

/** Output of ffmpeg on a pipe for three channels with a jump in the timestamps. */
async function written(time: string): Promise<Buffer> {
  const sound = ['-f', 'lavfi', '-i', "aevalsrc='0.1*sin(t*999)|0.2|-0.3:s=16000:d=2'", '-af', `asetnsamples=1000,asetpts='${time}'`];
  const args = ['-v', 'error', ...sound, '-c:a', 'pcm_f32le', '-f', 'matroska', 'pipe:1'];
  const { stdout } = await promisify(execFile)(ffmpeg, args, { encoding: 'buffer', maxBuffer: 2 ** 26 });
  return stdout;
}

function read(bytes: Uint8Array, step: number): Event[] {
  const reader = new MatroskaReader();
  const events: Event[] = [];
  for (let at = 0; at < bytes.length; at += step) events.push(...reader.push(bytes.subarray(at, at + step)));
  return events;
}

t.test('MatroskaReader reads channels, times and samples, however the bytes are split', async (t) => {
  const bytes = await written('N*10000');
  for (const step of [1, 7, 1000, bytes.length]) {
    const [head, ...blocks] = read(bytes, step);
    t.strictSame(head, { channels: 3 });
    t.equal(blocks.length, 32);
    for (const [i, block] of blocks.entries()) {
      if ('channels' in block) return t.fail('a second header');
      t.equal(block.time, i * 1000 * 625, 'milliseconds');
      const samples = new Float32Array(Uint8Array.from(block.data).buffer);
      t.equal(samples.length, 3000);
      t.ok(samples.every((x, n) => n % 3 === 0 || Math.abs(x - [0, 0.2, -0.3][n % 3]!) < 1e-6));
    }
  }
});

t.test("MatroskaReader returns a long block in pieces of whole sample frames with the block's time", async (t) => {
  const block = 5_000_000 * 12;
  const size = Buffer.from([0x01, 0, 0, 0, 0, 0, 0, 0]);
  size.writeUInt32BE(block + 4, 4);
  const head = Buffer.from([0x9f, 0x81, 3, 0xe7, 0x81, 9, 0xa3, ...size, 0x81, 0, 5, 0x80]);
  const reader = new MatroskaReader();
  t.strictSame([...reader.push(head)], [{ channels: 3 }]);
  let sum = 0;
  for (let at = 0; at < block; at += 65_536) {
    for (const event of reader.push(new Uint8Array(Math.min(65_536, block - at)))) {
      if ('channels' in event) return t.fail('a second header');
      if (event.time !== 14 || event.data.length % 12 || event.data.length > 2 ** 21) t.fail(`${event.time} ${event.data.length}`);
      sum += event.data.length;
    }
  }
  t.equal(sum, block);
});

t.test('MatroskaReader skips long elements that it does not use, however the bytes are split', async (t) => {
  const tags = Buffer.alloc(1_520_119, 0xa3);
  const size = Buffer.from([0x08, 0, 0, 0, 0]);
  size.writeUInt32BE(tags.length, 1);
  const around = { before: Buffer.from([0x9f, 0x81, 2]), after: Buffer.from([0xa3, 0x8c, 0x81, 0, 5, 0x80, 0, 0, 0, 0, 0, 0, 0, 0]) };
  const bytes = Buffer.concat([around.before, Buffer.from([0x12, 0x54, 0xc3, 0x67]), size, tags, around.after]);
  for (const step of [1000, 65_536, bytes.length]) {
    const events = read(bytes, step).map((event) => ('data' in event ? { ...event, data: [...event.data] } : event));
    t.strictSame(events, [{ channels: 2 }, { time: 5, data: new Array(8).fill(0) }], `${step} bytes at a time`);
  }
});

t.test('MatroskaReader rejects what is not Matroska', async (t) => {
  t.throws(() => read(new Uint8Array(100), 10), { message: /not Matroska/ });
  t.throws(() => read(Buffer.from([0x4d, 0x80, 0x08, 0xff, 0xff, 0xff, 0xff]), 10), { message: /the maximum is 268435456/ });
  t.throws(() => read(Buffer.from([0x9f, 0x89]), 10), { message: /an element of 9 bytes, the maximum is 8/ });
});

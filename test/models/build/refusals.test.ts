import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { build } from '../../../models/build/whisper/build.ts';
import { SHAPES, VOCABULARY, WIDTH, writeCheckpoint } from '../checkpoint.ts';

const home = mkdtempSync(join(tmpdir(), 'longhand-refusals-'));
t.teardown(() => rmSync(home, { recursive: true }));

t.test('build() rejects folders that are not a Whisper checkpoint, and states what it expected', async (t) => {
  await t.rejects(
    build(join(home, 'nowhere'), join(home, 'x'), { variant: 'int8' }),
    /Cannot read .*config\.json.*expected a Whisper checkpoint/,
  );
  const from = join(home, 'mixed');
  writeCheckpoint(from, SHAPES.plain!, 'F16');
  rmSync(join(from, 'model.safetensors'));
  await t.rejects(build(from, join(home, 'x'), { variant: 'int8' }), /Cannot find weights in .*wanted model\.safetensors/);
  writeCheckpoint(from, { ...SHAPES.plain!, encoderLayers: 1 }, 'F16');
  writeCheckpoint(join(home, 'two'), SHAPES.plain!, 'F16');
  copyFileSync(join(home, 'two', 'config.json'), join(from, 'config.json'));
  await t.rejects(build(from, join(home, 'x'), { variant: 'int8' }), /no tensor model\.encoder\.layers\.1/);
});

t.test('build() rejects weights whose size differs from config.json', async (t) => {
  const from = join(home, 'other-size');
  for (const change of [{ vocab_size: VOCABULARY + 1 }, { d_model: 2 * WIDTH }, { num_mel_bins: 128 }]) {
    writeCheckpoint(from, SHAPES.plain!, 'F16');
    const config = JSON.parse(readFileSync(join(from, 'config.json'), 'utf8'));
    writeFileSync(join(from, 'config.json'), JSON.stringify({ ...config, ...change }));
    await t.rejects(build(from, join(home, 'x'), { variant: 'int8' }), /does not match its config\.json/, JSON.stringify(change));
  }
});

t.test('build() rejects weights with a damaged header or of another type, with a message about it', async (t) => {
  const from = join(home, 'damaged');
  writeCheckpoint(from, SHAPES.plain!, 'F16');
  const path = join(from, 'model.safetensors');
  const bytes = readFileSync(path);
  const length = Number(bytes.readBigUInt64LE());
  const header = bytes.subarray(8, 8 + length).toString();
  const first = Object.keys(JSON.parse(header))[0]!;
  const changed = (entry: object | null) => JSON.stringify({ ...JSON.parse(header), [first]: entry });
  const tensor = JSON.parse(header)[first];
  for (const [text, message] of [
    [header.replace('{', '}'), /is not a safetensors file/],
    [changed(null), /is not a safetensors file/],
    [changed({ ...tensor, data_offsets: [100, 50] }), /is not a safetensors file/],
    [changed({ ...tensor, data_offsets: undefined }), /is not a safetensors file/],
    [changed({ ...tensor, data_offsets: [0, 1e15] }), /ends early/],
    [changed({ ...tensor, dtype: 'I8' }), /the tensor \S+ is I8, wanted F32, F16, BF16, F64; use the checkpoint before it was quantised/],
  ] as const) {
    const head = Buffer.alloc(8);
    head.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
    writeFileSync(path, Buffer.concat([head, Buffer.from(text), bytes.subarray(8 + length)]));
    await t.rejects(build(from, join(home, 'x'), { variant: 'int8' }), message);
  }
});

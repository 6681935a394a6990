import { readdirSync, readFileSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { kept } from '../../../models/install/kept.ts';
import { SHIPPED_FOLDER } from '../../../models/manifest.ts';
import { diarizationNetworks } from '../../../models/networks.ts';

/** Bytes to make, and how often they were made. */
function maker(text: string) {
  const maker = {
    times: 0,
    make: async () => {
      maker.times++;
      return Buffer.from(text);
    },
  };
  return maker;
}

t.test('kept() makes bytes once and then reads them', async (t) => {
  const folder = join(t.testdir(), 'new', 'folder');
  const first = maker('first');
  for (let i = 0; i < 3; i++) t.equal(String(await kept(folder, 'network', 'k1', first.make)), 'first');
  t.equal(first.times, 1);
  t.strictSame(readdirSync(folder), ['network-k1'], 'and leaves no partial file');
});

t.test('kept() replaces the file when the key changes, and spares other names and unfinished files', async (t) => {
  const folder = t.testdir({ 'network-k1.x.partial': '', 'other-k1': '' });
  await kept(folder, 'network', 'k1', maker('first').make);
  t.equal(String(await kept(folder, 'network', 'k2', maker('second').make)), 'second');
  t.strictSame(readdirSync(folder).sort(), ['network-k1.x.partial', 'network-k2', 'other-k1']);
});

t.test('kept() removes what killed processes left unfinished an hour ago', async (t) => {
  const folder = t.testdir({ 'network-k0.x.partial': '', 'other-k0.y.partial': { 'encoder.onnx': '' }, 'network-k0.z.partial': '' });
  const hourAgo = Date.now() / 1000 - 3700;
  for (const name of ['network-k0.x.partial', 'other-k0.y.partial/encoder.onnx', 'other-k0.y.partial'])
    utimesSync(join(folder, name), hourAgo, hourAgo);
  await kept(folder, 'network', 'k1', maker('bytes').make);
  t.strictSame(readdirSync(folder).sort(), ['network-k0.z.partial', 'network-k1']);
});

t.test('kept() makes damaged bytes again: cut short, empty, or with a bit changed', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'network-k');
  const content = maker('content of the network');
  await kept(folder, 'network', 'k', content.make);
  const flipped = () => {
    const bytes = readFileSync(path);
    bytes[40]! ^= 1;
    writeFileSync(path, bytes);
  };
  for (const [i, damage] of [() => truncateSync(path, 40), () => truncateSync(path, 0), flipped].entries()) {
    damage();
    t.equal(String(await kept(folder, 'network', 'k', content.make)), 'content of the network');
    t.equal(content.times, i + 2);
  }
  await kept(folder, 'network', 'k', content.make);
  t.equal(content.times, 4, 'and keeps them again');
});

t.test('kept() works without its folder, and rejects as `make` does', async (t) => {
  const folder = join(t.testdir({ file: '' }), 'file', 'inside');
  t.equal(String(await kept(folder, 'network', 'k', maker('bytes').make)), 'bytes');
  await t.rejects(
    kept(t.testdir(), 'network', 'k', () => Promise.reject(new Error('no such model'))),
    /no such model/,
  );
});

t.test('diarizationNetworks() keeps its conversions in the state folder, for its owner alone', async (t) => {
  const home = t.testdir();
  const published = join(home, 'published');
  symlinkSync(join(SHIPPED_FOLDER, 'diarization'), published);
  const made = await diarizationNetworks(published, home);
  const folder = join(home, 'models', '.networks');
  const files = readdirSync(folder).sort();
  t.match(files, [/^int8(-7bit)?-campplus-zh-en-common\.onnx-[0-9a-f]{16}$/, /^int8(-7bit)?-segmentation-3\.0\.onnx-[0-9a-f]{16}$/]);
  t.ok(Buffer.from(made.voice).equals(readFileSync(join(folder, files[0]!)).subarray(32)));
  t.ok(Buffer.from(made.segmentation).equals(readFileSync(join(folder, files[1]!)).subarray(32)));
  const other = join(home, 'again'); // a process converts the models of a folder once
  symlinkSync(join(SHIPPED_FOLDER, 'diarization'), other);
  const before = files.map((file) => statSync(join(folder, file)));
  const read = await diarizationNetworks(other, home);
  t.ok(Buffer.from(read.voice).equals(Buffer.from(made.voice)));
  t.ok(read.voice.buffer instanceof SharedArrayBuffer);
  t.strictSame(
    files.map((file) => statSync(join(folder, file)).ino),
    before.map(({ ino }) => ino),
    'another process reads them',
  );
  t.ok(before.every(({ mode }) => (mode & 0o77) === 0));
});

/*
 * Files that try to make the decoder read other files, open connections, fill memory or disk, or never finish. Each attack that still works on an
 * unrestricted ffmpeg is first shown to work there, so that its failure here is meaningful.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { finish } from '../../support/processes/processes.ts';
import { ffmpeg, hostileFolder, judge } from './bench.ts';
import { aviGab2, dash, externalDref, ffconcat, hls, imf, oddAtoms, sdp, storedZip } from './corpus.ts';

const { folder, left } = hostileFolder(t);
const at = (name: string) => join(folder, name);
const write = (name: string, content: string | Uint8Array) => {
  writeFileSync(at(name), content);
  return at(name);
};
const MEMORY = 300 * 2 ** 20; // bytes by which this process may grow over all tests
const ENDINGS = ['', '.mp4']; // engines name their copies by random UUIDs, without an extension
const PROOF = 'm3u8'; // newer versions accept a playlist under this extension only; other formats are detected by content
const REFUSED = new Set(['FILE_CORRUPTED', 'FILE_NO_AUDIO', 'UNSUPPORTED_CODEC']);
const before = process.memoryUsage.rss();

let connections = 0;
const listener = createServer((socket) => {
  connections++;
  socket.destroy();
}).listen(0, '127.0.0.1');
await new Promise((resolve) => listener.once('listening', resolve));
const { port } = listener.address() as AddressInfo;
t.teardown(() => listener.close());

/** Number of bytes that an ffmpeg without our restrictions decodes from a file, and its messages. */
async function unguarded(path: string, ...options: string[]) {
  const args = ['-v', 'error', '-nostdin', '-protocol_whitelist', 'file,http,tcp,crypto,data', ...options, '-i', path];
  const { stderr } = await finish('timeout', ['10', 'ffmpeg', ...args, '-map', '0:a:0', '-f', 's16le', '-y', at('unguarded.pcm')]);
  return { bytes: statSync(at('unguarded.pcm'), { throwIfNoEntry: false })?.size ?? 0, stderr };
}

const TONE = ['-f', 'lavfi', '-i', 'sine=1000:d=3'];
await Promise.all([
  ffmpeg(...TONE, at('canary.wav')),
  ffmpeg(...TONE, '-c:a', 'aac', at('canary.m4a')),
  ffmpeg(...TONE, '-c:a', 'mp2', '-f', 'mpegts', at('canary.ts')),
  ffmpeg(...TONE, '-c:a', 'pcm_s16le', at('honest.mov')),
  ffmpeg(...TONE, at('honest.mp3')),
]);

t.test('decode() never follows playlists or references to other files, whatever the file name', async (t) => {
  const dref = externalDref(readFileSync(at('honest.mov')), 'canary.wav');
  const attacks: [string, string | Uint8Array, string[]][] = [
    ['hls-absolute', hls(`file://${at('canary.ts')}`), ['-allowed_extensions', 'ALL']],
    ['hls-relative', hls('canary.ts'), ['-allowed_extensions', 'ALL']],
    ['concat', ffconcat('canary.wav'), []],
    ['dash', dash('canary.m4a'), []],
    ['dref', dref, ['-enable_drefs', '1']],
  ];
  for (const [name, content, options] of attacks) {
    const proof = await unguarded(write(`${name}.${PROOF}`, content), ...options);
    t.ok(proof.bytes > 20_000, `${name} works on an unrestricted ffmpeg (${proof.stderr})`);
    for (const ending of ENDINGS) {
      const verdict = await judge(write(`${name}${ending}`, content));
      t.ok(REFUSED.has(verdict.code ?? 'decoded') && verdict.seconds === 0, `${name}${ending}: ${verdict.code ?? `${verdict.seconds} s`}`);
      t.notOk(verdict.message.includes(folder), 'the message contains no path');
    }
  }
  t.match(await judge(write('imf.mp4', imf())), { code: 'FILE_CORRUPTED', seconds: 0 });
});

t.test('decode() opens no connection, whatever the file', async (t) => {
  const url = `http://127.0.0.1:${port}/a.ts`;
  const attacks: [string, string | Uint8Array, string[]][] = [
    ['hls', hls(url), []],
    ['concat', ffconcat(url), ['-safe', '0']],
    ['dash', dash(url), []],
  ];
  for (const [name, content, options] of attacks) {
    connections = 0;
    await unguarded(write(`net-${name}.${PROOF}`, content), ...options);
    t.ok(connections > 0, `${name} works on an unrestricted ffmpeg`);
  }
  connections = 0;
  const silent: [string, string | Uint8Array][] = [
    ['rtsp.sdp', sdp(port)],
    ['gab2.avi', aviGab2(hls(url))],
    ['gab2-file.avi', aviGab2(hls(`file://${at('canary.ts')}`))],
    ['tcp.m3u8', hls(`tcp://127.0.0.1:${port}`)],
    ['subfile.m3u8', hls(`concat:${url}|file://${at('canary.ts')}`)],
    ['nested.m3u8', hls(`net-hls.${PROOF}`)],
  ];
  for (const [name, content] of [...attacks, ...silent]) {
    for (const ending of ENDINGS) {
      const verdict = await judge(write(`${name}${ending}`, content));
      t.ok(REFUSED.has(verdict.code ?? 'decoded') && verdict.seconds === 0, `${name}${ending}: ${verdict.code}`);
    }
  }
  t.equal(connections, 0);
});

t.test('decode() handles malformed boxes, attachments, very many streams and polyglots, and returns only their own sound', async (t) => {
  for (const [name, bytes] of Object.entries(oddAtoms())) {
    const verdict = await judge(write(name, bytes));
    t.ok(REFUSED.has(verdict.code ?? 'decoded'), `${name}: ${verdict.code}, ${verdict.tookMs} ms`);
  }
  const sound = ['-i', at('honest.mp3')];
  write('blob', Buffer.alloc(40 * 2 ** 20));
  write('crumb', Buffer.alloc(20_000, 1));
  const attach = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => ['-attach', at(name), `-metadata:s:t:${i}`, 'mimetype=application/octet-stream']).flat();
  await ffmpeg(...sound, '-c', 'copy', ...attach('blob', 1), at('large.mkv'));
  await ffmpeg(...sound, '-c', 'copy', ...attach('crumb', 120), at('attached.mkv'));
  const maps = (count: number) => ['-t', '2', ...Array.from({ length: count }, () => ['-map', '0:a']).flat(), '-c', 'copy'];
  await ffmpeg(...sound, ...maps(100), at('streams100.mkv'));
  await ffmpeg(...sound, ...maps(600), at('streams600.mkv'));
  write('polyglot.mp3', Buffer.concat([readFileSync(at('honest.mp3')), storedZip('evil.m3u8', Buffer.from(hls('canary.ts')))]));
  for (const name of ['large.mkv', 'attached.mkv', 'streams100.mkv', 'polyglot.mp3']) {
    const verdict = await judge(at(name));
    t.match(verdict, { code: null }, `${name}: ${verdict.message} ${verdict.tookMs} ms`);
    t.ok(verdict.seconds > 1.5 && verdict.seconds < 3.5, `${name}: ${verdict.seconds} s`);
  }
  const crowd = await judge(at('streams600.mkv'));
  t.match(crowd, { code: 'FILE_CORRUPTED' }, `600 streams: ${crowd.message}`);
  const zip = await judge(write('archive.mp4', storedZip('evil.m3u8', Buffer.from(hls('canary.ts')))));
  t.ok(REFUSED.has(zip.code ?? 'decoded'), `archive: ${zip.code}`);
});

t.test('decode() stops at the limit for a small file that expands into many hours', async (t) => {
  const silence = ['-f', 'lavfi', '-i', 'anullsrc=r=16000:cl=mono', '-t', '20'];
  await ffmpeg(...silence, '-c:a', 'flac', at('seed.flac'));
  await ffmpeg(...silence, '-c:a', 'libopus', '-b:a', '6k', at('seed.opus'));
  for (const [name, format] of [
    ['flac', 'mka'],
    ['opus', 'opus'],
  ] as const) {
    const bomb = at(`bomb-${name}.${format}`);
    await ffmpeg('-stream_loop', '539', '-i', at(`seed.${name}`), '-c', 'copy', bomb);
    const bytes = statSync(bomb).size;
    const verdict = await judge(bomb, 600);
    t.match(
      verdict,
      { code: 'RECORDING_TOO_LONG' },
      `${name}: 3 h in ${(bytes / 2 ** 20).toFixed(1)} MiB, ended after ${verdict.tookMs} ms`,
    );
  }
  const declared = readFileSync(at('canary.wav'));
  declared.writeUInt32LE(0xffffffff, 4);
  declared.writeUInt32LE(0xffffffff, declared.indexOf('data') + 4);
  const lie = await judge(write('lie.wav', declared));
  t.match(lie, { code: null });
  t.ok(Math.abs(lie.seconds - 3) < 0.1, 'the duration is the decoded one, not the declared one');
});

t.test('decode() leaves no files or processes behind, and this process has not grown', async (t) => {
  t.strictSame(await left(), []);
  t.ok(readdirSync(folder).length > 30);
  const grown = process.memoryUsage.rss() - before;
  t.ok(grown < MEMORY, `${Math.round(grown / 2 ** 20)} MiB`);
});

import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { confined } from '../../../engine/audio/ffmpeg/confine.ts';
import { runs } from '../../support/processes/hunt.ts';
import { findProgram } from '../../support/processes/programs.ts';
import { eventually } from '../../support/processes/service.ts';
import { hostileFolder } from './bench.ts';

const { folder, left } = hostileFolder(t);
const ROOT = process.getuid?.() === 0;
const input = join(folder, 'recording');
writeFileSync(input, 'x', { mode: 0o600 });
chmodSync(folder, 0o711);
if (ROOT) chownSync(input, 65_534, 65_534); // as an engine shares its decrypted copy

/** Output of a program run in the sandbox. */
async function inside(program: string, args: string[], of = input): Promise<string> {
  const run = await confined(program, args, of, { seconds: 10, silence: 10 });
  const [printed] = await Promise.all([text(run.stdout), run.ended]);
  return printed + run.complaints();
}

t.test('confined() passes no environment, and removes its folder early, so that a killed program leaves none', async (t) => {
  const names = (await inside('/usr/bin/env', ['-0'])).split('\0').map((line) => line.split('=')[0]!);
  t.strictSame(
    names.filter((name) => name && !/^(_TAPJS_|NODE_OPTIONS$)/.test(name)),
    [],
    'except for variables that tap sets in every child',
  );
  // the program may start just before the folder is removed
  const look = 'i=0; until readlink /proc/$$/cwd | grep deleted || [ $i -eq 50 ]; do i=$((i + 1)); sleep 0.1; done';
  t.match(await inside('/bin/sh', ['-c', look]), /longhand-media-\w+ \(deleted\)/);
  t.strictSame(await left(), []);
});

t.test('confined() limits memory, CPU time, descriptors, and where the program may write', { skip: !findProgram('prlimit') }, async (t) => {
  const limits = await inside('/bin/cat', ['/proc/self/limits']);
  const limit = (name: string) => Number(new RegExp(`^${name} +(\\d+)`, 'm').exec(limits)?.[1]);
  t.equal(limit('Max address space'), 3 * 2 ** 30);
  t.equal(limit('Max cpu time'), 10);
  t.equal(limit('Max file size'), 0);
  t.equal(limit('Max open files'), 64);
  t.equal(limit('Max core file size'), 0);
  t.match(await inside('/bin/dd', ['if=/dev/zero', 'of=/dev/null', 'bs=4G', 'count=1']), /memory|exhausted/i);
  const open = join(folder, 'open');
  mkdirSync(open);
  chmodSync(open, 0o777);
  t.match(await inside('/bin/sh', ['-c', `trap "" XFSZ; exec dd if=/dev/zero of='${open}/here' count=1`]), /too large/i);
  rmSync(open, { recursive: true });
});

t.test('confined() drops every privilege', { skip: !findProgram('setpriv') && 'needs setpriv' }, async (t) => {
  const status = await inside('/bin/cat', ['/proc/self/status']);
  const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1];
  for (const set of ['CapEff', 'CapPrm', 'CapInh', 'CapAmb']) t.match(field(set), /^0+$/, set);
  t.equal(field('NoNewPrivs'), '1');
  if (!ROOT) return;
  t.match(field('CapBnd'), /^0+$/);
  t.equal(field('Uid'), '65534\t65534\t65534\t65534');
  t.match(status, /^Groups:\s*\n/m);
  writeFileSync(join(folder, 'secret'), 'secret', { mode: 0o600 });
  t.match(await inside('/bin/cat', [join(folder, 'secret')]), /Permission denied/, 'it cannot read files of root');
});

const NETLESS = spawnSync('unshare', [...(ROOT ? ['--net'] : ['--user', '--net']), '/bin/true']).status === 0;

t.test('confined() has no network', { skip: !NETLESS && 'this host allows no network namespaces' }, async (t) => {
  const devices = (await inside('/bin/cat', ['/proc/net/dev'])).match(/[\w.]+(?=:)/g);
  t.strictSame(devices, ['lo']);
  t.strictSame((await inside('/bin/cat', ['/proc/net/route'])).trim().split('\n').slice(1), []);
});

t.test('confined() kills the whole process group on timeout, on silence and on abort', async (t) => {
  const sleeper = ['-c', 'sleep 600 > /dev/null 2>&1 & echo $!; exec sleep 600']; // the first one would outlive the leader of the group
  const ends: [() => Parameters<typeof confined>[3], { code?: string; name?: string; message?: string | RegExp }][] = [
    [() => ({ seconds: 0.3, silence: 10 }), { code: 'PROCESSING_TIMEOUT', message: /after 0.3 s$/ }],
    [() => ({ seconds: 10, silence: 0.3 }), { code: 'PROCESSING_TIMEOUT', message: /without output/ }],
    [() => ({ seconds: 60, silence: 60, signal: AbortSignal.timeout(1000) }), { name: 'TimeoutError' }],
  ];
  for (const [limits, error] of ends) {
    const { stdout, ended } = await confined('/bin/sh', sleeper, input, limits());
    const [pid] = await Promise.all([text(stdout), t.rejects(ended, error as Error)]);
    await t.resolves(eventually(() => !runs(Number(pid)), `the end of process ${pid}, which it had started`));
  }
  const aborted = { seconds: 10, silence: 10, signal: AbortSignal.abort(new Error('deleted')) };
  await t.rejects(confined('/bin/sh', sleeper, input, aborted), { message: 'deleted' });
  t.strictSame(await left(), []);
});

t.test('confined() kills the program at once if the signal aborts while it is being prepared', async (t) => {
  const controller = new AbortController();
  const running = confined('/bin/sleep', ['10'], input, { seconds: 5, silence: 5, signal: controller.signal });
  controller.abort(new Error('deleted'));
  const { ended } = await running;
  await t.rejects(ended, { message: 'deleted' });
  t.strictSame(await left(), []);
});

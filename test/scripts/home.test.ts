import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { claimHome, runningUrl } from '../../scripts/commands/home.ts';
import { finish, ROOT, RUN, start } from '../support/processes/processes.ts';

const ROUNDS = 60;
const PROCESSES = 4;
const DEAD = JSON.stringify({ pid: 1, started: 'long ago', database: null, url: 'http://127.0.0.1:1' });

for (const links of [true, false])
  t.test(
    `claimHome() gives a folder held by a dead process to only one of several concurrent callers, with${links ? '' : 'out'} hard links`,
    async (t) => {
      const done = t.testdir();
      const folders = Array.from({ length: ROUNDS }, (_, round) => join(done, String(round)));
      for (const folder of folders) {
        mkdirSync(folder);
        writeFileSync(join(folder, 'running.json'), DEAD);
      }
      const begin = Date.now() + 4000; // most processes have loaded by then
      const program = `
    if (!${links}) (await import(${JSON.stringify(join(ROOT, 'test/support/processes/links.ts'))})).withoutLinks({ teardown() {} }, 'EPERM');
    const { claimHome } = await import(${JSON.stringify(join(ROOT, 'scripts/commands/home.ts'))});
    const claimed = [];
    const cell = new Int32Array(new SharedArrayBuffer(4));
    for (const [round, folder] of ${JSON.stringify(folders)}.entries()) {
      const moment = ${begin} + round * 50;
      Atomics.wait(cell, 0, 0, Math.max(0, moment - Date.now() - 4)); // sleeps, then spins, so that all begin within microseconds
      while (Date.now() < moment);
      try {
        await claimHome(folder);
        claimed.push(round);
      } catch {}
    }
    const { readdirSync, writeFileSync } = await import('node:fs');
    writeFileSync(${JSON.stringify(done)} + '/done ' + process.pid, '');
    const all = () => readdirSync(${JSON.stringify(done)}).filter((name) => name.startsWith('done')).length === ${PROCESSES};
    while (!all()) await new Promise((resolve) => setTimeout(resolve, 50)); // keeps running until the others have tried
    process.stdout.write(JSON.stringify(claimed));`;
      const args = [...RUN, '--input-type=module', '--eval', program];
      const all = await Promise.all(Array.from({ length: PROCESSES }, () => finish(process.execPath, args)));
      const claimed = all.flatMap(({ stdout }) => JSON.parse(stdout) as number[]).sort((a, b) => a - b);
      t.strictSame(claimed, [...folders.keys()]);
    },
  );

t.test('claimHome() takes over the folder of a process that has ended, even if its parent has not reaped it', async (t) => {
  const folder = t.testdir();
  const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] }); // exec: the shell, which would reap the first process, is replaced
  t.teardown(() => parent.kill());
  const [pid] = await once(parent.stdout, 'data');
  const stat = () =>
    readFileSync(`/proc/${Number(pid)}/stat`, 'utf8')
      .replace(/.*\) /s, '')
      .split(' ');
  for (const end = Date.now() + 30_000; stat()[0] !== 'Z' && Date.now() < end; ) await sleep(20);
  t.equal(stat()[0], 'Z', 'it is a zombie');
  writeFileSync(join(folder, 'running.json'), JSON.stringify({ pid: Number(pid), started: stat()[19], url: 'http://127.0.0.1:1' }));
  t.equal(runningUrl(folder), null);
  (await claimHome(folder)).release();
});

t.test('claimHome() does not take over a folder that a process in another container uses, until that is silent', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'running.json');
  const own = await claimHome(folder);
  const holder = JSON.parse(readFileSync(file, 'utf8'));
  const since = statSync(file).mtimeMs;
  for (const end = Date.now() + 30_000; statSync(file).mtimeMs === since && Date.now() < end; ) await sleep(50);
  t.not(statSync(file).mtimeMs, since, 'a holder shows that it lives');
  own.release();
  t.notOk(existsSync(file));

  writeFileSync(
    file,
    JSON.stringify({ ...holder, pid: 1, started: 'unknown here', where: 'in another container', url: 'http://127.0.0.1:1' }),
  );
  const beating = setInterval(() => utimesSync(file, new Date(), new Date()), 300);
  await t.rejects(claimHome(folder), {
    message: /^Cannot use .*: process 1 of another container or machine is running on it\. Run the command there/,
  });
  clearInterval(beating);
  t.equal(runningUrl(folder), null, 'its address is one of that container');
  const next = await claimHome(folder, 1000);
  t.equal(JSON.parse(readFileSync(file, 'utf8')).pid, process.pid, 'it was killed');
  next.release();
});

const noBoot = !existsSync('/proc/sys/kernel/random/boot_id') && 'needs the kernel to have an id';
t.test(
  'claimHome() asks a process in another container of this machine whether it lives, even one that is suspended',
  { skip: noBoot },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'lh-')); // short: the address of a socket has 107 bytes
    t.teardown(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'running.json');
    const program = `
    const { claimHome } = await import(${JSON.stringify(join(ROOT, 'scripts/commands/home.ts'))});
    await claimHome(${JSON.stringify(folder)});
    process.stdout.write('claimed');
    setInterval(() => {}, 1000);`;
    const { child: holder, exited, said, stop } = start(t, process.execPath, [...RUN, '--input-type=module', '--eval', program]);
    t.teardown(() => stop('SIGKILL')); // while it is suspended it does not act on other signals
    await said(/claimed/);
    const text = JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), where: 'in another container' });
    writeFileSync(file, text);
    holder.kill('SIGSTOP');
    await t.rejects(claimHome(folder, 100), { message: /of another container or machine/ });
    t.equal(readFileSync(file, 'utf8'), text);

    const long = join(folder, 'x'.repeat(106 - folder.length)); // the socket's address, cut off, is that of this link
    symlinkSync(folder, long);
    const alive = setInterval(() => utimesSync(file, new Date(), new Date()), 300);
    await t.rejects(claimHome(long, 5000), { message: /of another container or machine/ }, 'by a path too long for a socket, too');
    clearInterval(alive);
    rmSync(long);

    holder.kill('SIGKILL');
    await exited;
    const { contact, ...rest } = JSON.parse(text);
    const beating = setInterval(() => utimesSync(file, new Date(), new Date()), 300);
    for (const [other, why] of [
      [{ within: 'another machine' }, 'where its socket is silent'],
      [{ name: 'running.gone.sock' }, 'whose socket somebody has removed'],
    ] as const) {
      writeFileSync(file, JSON.stringify({ ...rest, contact: { ...contact, ...other } }));
      await t.rejects(claimHome(folder, 5000), { message: /of another container or machine/ }, why);
    }
    clearInterval(beating);
    writeFileSync(file, text);
    const before = performance.now();
    const next = await claimHome(folder, 60_000);
    t.ok(performance.now() - before < 30_000, 'that it was killed is known at once');
    t.equal(readdirSync(folder).length, 2, 'its socket is removed');
    next.release();
    t.strictSame(readdirSync(folder), []);
  },
);

t.test('claimHome() leaves the file of a process in another container that has the same id and is about to claim the folder', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'running.json');
  const text = JSON.stringify({ pid: process.pid, started: 'unknown here', where: 'in another container', database: null, url: null });
  writeFileSync(file, text);
  linkSync(file, `${file}.${process.pid}`); // as between its link and the removal of its draft
  const beating = setInterval(() => utimesSync(file, new Date(), new Date()), 300);
  t.teardown(() => clearInterval(beating));
  await t.rejects(claimHome(folder, 5000), { message: /of another container or machine/ });
  t.equal(readFileSync(file, 'utf8'), text);
});

t.test('claimHome(): a process that was suspended leaves the folder to the one that has taken it over', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'running.json');
  const suspended = await claimHome(folder);
  const text = JSON.stringify({ pid: 1, started: 'unknown here', where: 'in another container', database: null, url: null });
  writeFileSync(file, text);
  t.throws(() => suspended.announce({ url: 'http://127.0.0.1:1' }), { message: /another process took it over/ });
  await t.rejects(suspended.lost, { message: /another process took it over/ }, 'it learns so within seconds, to stop its database');
  suspended.release();
  t.equal(readFileSync(file, 'utf8'), text, 'a third one may not claim it');
});

t.test('claimHome() does not change a file that it cannot parse, and reports the remedy', async (t) => {
  const folder = t.testdir({ 'running.json': { inside: '' } });
  await t.rejects(claimHome(folder), { message: /^Cannot read .*running\.json \(EISDIR\): .* set LONGHAND_HOME to another folder\.$/ });
  t.equal(runningUrl(folder), null);
});

t.test('claimHome() does not take the place of a holder that began while a silent one was watched', async (t) => {
  const folder = t.testdir();
  const SILENT_MS = 500;
  const began = new Date(1_700_000_000_000);
  const place = (pid: number) => {
    const draft = join(folder, 'draft');
    writeFileSync(draft, JSON.stringify({ pid, started: 'then', where: 'another machine', database: null, url: null }));
    utimesSync(draft, began, began); // as if its file system recorded whole seconds
    renameSync(draft, join(folder, 'running.json'));
  };
  place(1);
  const start = performance.now();
  const claiming = claimHome(folder, SILENT_MS);
  place(2);
  const home = await claiming;
  t.ok(performance.now() - start >= 2 * SILENT_MS, 'it is watched as long as the first one');
  home.release();
});

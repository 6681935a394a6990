import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { start } from '../../../../engine/audio/ffmpeg/start.ts';
import { Starter } from '../../../../engine/audio/ffmpeg/starter.ts';
import { runs } from '../../../support/processes/hunt.ts';
import { eventually } from '../../../support/processes/service.ts';

const starter = new Starter();
const WAYS: Record<string, typeof start> = {
  'by this process': start,
  'by a process of its own': (program, listener) => starter.start(program, listener),
};
const SOURCES = new URL('../../../../engine/audio/ffmpeg/', import.meta.url);
const shell = (script: string) => ({ command: '/bin/sh', args: ['-c', script], cwd: '/' });
const quiet = () => {};
/** The process that starts programs. */
const [starterPid] = (await run('exec cut -d " " -f 4 /proc/self/stat')).printed.split('\n').map(Number);

async function run(script: string, way = WAYS['by a process of its own']!) {
  let said = '';
  const { stdout, ended } = await way(shell(script), (text) => {
    said += text;
  });
  const [printed, end] = await Promise.all([text(stdout), ended]);
  return { printed, said, end };
}

for (const [name, way] of Object.entries(WAYS)) {
  t.test(`a program started ${name} hands over all it writes, and how it ends`, async (t) => {
    t.strictSame(await run('printf out; printf "\\303\\244 err" >&2; exit 3', way), {
      printed: 'out',
      said: 'ä err',
      end: { code: 3, signal: null },
    });
    t.strictSame((await run('kill -KILL $$', way)).end, { code: null, signal: 'SIGKILL' });
    const { printed, said } = await run('head -c 20000000 /dev/zero | tr "\\0" x; head -c 3000000 /dev/zero | tr "\\0" y >&2', way);
    t.equal(printed.length, 20_000_000);
    t.equal(said.length, 3_000_000);
  });

  t.test(`a program started ${name} has no input, no environment, and is the leader of its group`, async (t) => {
    const { printed } = await run('cat; tr "\\0" "\\n" < /proc/$$/environ; cut -d " " -f 5 /proc/$$/stat; echo $$', way);
    const lines = printed.trim().split('\n');
    t.equal(lines.at(-2), lines.at(-1));
    t.strictSame(
      lines.slice(0, -2).filter((line) => !/^(_TAPJS_|NODE_OPTIONS=)/.test(line)),
      [],
      'but for what tap sets in every child',
    );
  });

  t.test(`a relative working directory of a program started ${name} is one of the engine`, async (t) => {
    const { stdout } = await way({ command: '/bin/pwd', args: [], cwd: '.' }, quiet);
    t.equal(await text(stdout), `${process.cwd()}\n`, 'TMPDIR may be relative');
  });

  t.test(`programs started ${name} at the same time, and over at once, lose nothing`, async (t) => {
    const runs = await Promise.all(Array.from({ length: 60 }, (_, i) => run(`echo out ${i}; echo err ${i} >&2`, way)));
    t.strictSame(
      runs.map(({ printed, said }) => printed + said),
      runs.map((_, i) => `out ${i}\nerr ${i}\n`),
    );
  });

  t.test(`a program that cannot be started ${name} is refused with the reason`, async (t) => {
    await t.rejects(way({ command: '/none', args: [], cwd: '/' }, quiet), { message: /\/none ENOENT/ });
    t.equal((await run('echo next', way)).printed, 'next\n');
  });

  t.test(`a program started ${name} whose output nobody reads leaves no open file`, async (t) => {
    const { length } = readdirSync('/proc/self/fd');
    for (let i = 0; i < 5; i++) await (await way(shell('echo unread'), quiet)).ended;
    await t.resolves(eventually(() => readdirSync('/proc/self/fd').length <= length, 'the end of all files that it opened'));
  });
}

t.test('if the process that starts programs is killed, those that run end as failed, and the next ones start', async (t) => {
  const { ended, stdout, pid } = await starter.start(shell('sleep 60; echo late'), quiet);
  process.kill(starterPid!, 'SIGKILL');
  await t.rejects(ended, { message: 'Cannot start programs: the process that starts them ended (SIGKILL)' });
  t.equal(await text(stdout), '', 'nothing limits their time any more, so they are killed');
  t.ok(await isGone(pid));
  t.equal((await run('echo again')).printed, 'again\n');
});

t.test('if the process that starts programs was killed a moment ago, the next program starts all the same', async (t) => {
  const printed = await inNode(`
    const large = Buffer.alloc(2 ** 28, 1);
    const { text } = await import('node:stream/consumers');
    const { start } = await import(${JSON.stringify(new URL('start.ts', SOURCES).href)});
    const run = async (script) => text((await start({ command: '/bin/sh', args: ['-c', script], cwd: '/' }, () => {})).stdout);
    const parent = Number(await run('exec cut -d " " -f 4 /proc/self/stat'));
    process.kill(parent, 'SIGKILL');
    console.log(parent !== process.pid, (await Promise.all([run('echo 1'), run('echo 2')])).join(''), large.length > 0);
  `);
  t.equal(printed, 'true 1\n2\n true\n');
});

t.test('if the process that starts programs is stopped, it is woken', async (t) => {
  const waking = new Starter(100);
  const { stdout, ended } = await waking.start(shell('cut -d " " -f 4 /proc/$$/stat; exec 1>&-; sleep 0.3'), quiet);
  process.kill(Number(await text(stdout)), 'SIGSTOP');
  t.strictSame(await ended, { code: 0, signal: null });
});

t.test('a program that the system refuses to start leaves the others alone', async (t) => {
  const other = run('sleep 0.3; echo other');
  await t.rejects(starter.start({ ...shell('true'), args: ['x'.repeat(2 ** 22)] }, quiet), { message: /E2BIG/ });
  t.equal((await other).printed, 'other\n');
});

t.test('while too many files are open, programs are refused, and those after them start', async (t) => {
  const source = JSON.stringify(new URL('starter.ts', SOURCES).href);
  const script = (opened: boolean) => `
    const { openSync, closeSync } = await import('node:fs');
    const { text } = await import('node:stream/consumers');
    const { Starter } = await import(${source});
    const starter = new Starter();
    const said = [];
    const run = async (word) => {
      const { stdout, ended } = await starter.start({ command: '/bin/sh', args: ['-c', \`echo \${word}; echo \${word} >&2\`], cwd: '/' }, (text) => said.push(text));
      return Promise.all([text(stdout), ended]);
    };
    if (${opened}) await run('first');
    const files = [];
    try {
      for (;;) files.push(openSync('/dev/null'));
    } catch {}
    const refused = await run('second').catch(({ message }) => message);
    for (const file of files) closeSync(file);
    await new Promise(setImmediate);
    await run('third');
    console.log(JSON.stringify([refused, said.join('')]));
  `;
  t.strictSame(JSON.parse(await inNode(script(true), 64)), ['Cannot start a program: its output cannot be opened', 'first\nthird\n']);
  t.strictSame(JSON.parse(await inNode(script(false), 64)), ['Cannot start programs: too many files are open', 'third\n']);
});

t.test('the process that starts programs ends with the one it serves, not before, and keeps it from nothing', async (t) => {
  const printed = await inNode(`
    const { Starter } = await import(${JSON.stringify(new URL('starter.ts', SOURCES).href)});
    const { stdout, ended } = await new Starter().start({ command: '/bin/sh', args: ['-c', 'cut -d " " -f 4 /proc/$$/stat'], cwd: '/' }, () => {});
    stdout.pipe(process.stdout);
    await ended;
  `);
  t.ok(await isGone(Number(printed)));
});

t.test('if the process that it serves is killed, the process that starts programs ends, and those that write', async (t) => {
  const printed = await inNode(`
    const { writeSync } = await import('node:fs');
    const { Starter } = await import(${JSON.stringify(new URL('starter.ts', SOURCES).href)});
    const script = 'cut -d " " -f 4 /proc/$$/stat; while sleep 0.1; do echo; done';
    const { pid, stdout } = await new Starter().start({ command: '/bin/sh', args: ['-c', script], cwd: '/' }, () => {});
    stdout.once('data', (parent) => {
      writeSync(1, \`\${pid} \${parent}\`);
      process.kill(process.pid, 'SIGKILL');
    });
  `).catch(({ stdout }: { stdout: string }) => stdout);
  const [program, parent] = printed.split(' ').map(Number);
  t.ok(program && (await isGone(program)));
  t.ok(parent && (await isGone(parent)));
});

t.test('it ends, too, if the killed process had yet to take the output of a program', async (t) => {
  const file = join(t.testdir({}), 'pids');
  await inNode(`
    const { readFileSync } = await import('node:fs');
    const { Starter } = await import(${JSON.stringify(new URL('starter.ts', SOURCES).href)});
    const script = 'echo $$ $(cut -d " " -f 4 /proc/$$/stat) > ${file}; while sleep 0.1; do echo; done';
    void new Starter().start({ command: '/bin/sh', args: ['-c', script], cwd: '/' }, () => {});
    const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms); // no event is handled
    const said = () => { try { return readFileSync('${file}', 'utf8').endsWith('\\n'); } catch { return false; } };
    while (!said()) wait(20);
    wait(500); // until the output has been sent
    process.kill(process.pid, 'SIGKILL');
  `).catch(() => {});
  const [program, parent] = readFileSync(file, 'utf8').split(' ').map(Number);
  t.ok(parent && (await isGone(parent)));
  t.ok(program && (await isGone(program)));
});

t.test('signals to the process group do not end the process that starts programs', async (t) => {
  const [pid] = (await run('exec cut -d " " -f 4 /proc/self/stat')).printed.split('\n').map(Number);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid!, signal);
  await sleep(200);
  t.equal((await run('exec cut -d " " -f 4 /proc/self/stat')).printed, `${pid}\n`);
});

/** Runs a program in Node, with at most so many open files, and returns what it prints. */
async function inNode(program: string, files = 1024): Promise<string> {
  const hooks = new URL('../../../support/typescript.mjs', import.meta.url).pathname;
  const args = ['-c', `ulimit -n ${files}; exec "$@"`, 'sh', process.execPath, `--import=${hooks}`, '--input-type=module', '-e', program];
  return (await promisify(execFile)('/bin/sh', args, { timeout: 60_000 })).stdout;
}

/** Waits for a process to end. */
function isGone(pid: number): Promise<boolean> {
  return eventually(() => !runs(pid), `the end of process ${pid}`);
}

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { checkModelApart } from '../../../bench/models/check-apart.ts';
import type { Measured } from '../../../models/checks/self-check.ts';
import { SHIPPED_FOLDER } from '../../../models/manifest.ts';
import { addTiny, TINY } from '../../support/engine/models.ts';
import { finish, RUN } from '../../support/processes/processes.ts';

const diarization = join(SHIPPED_FOLDER, 'diarization');
const options = { diarization, threads: 1, seconds: 0.1 };

t.test('checkModelApart() measures the memory of the model alone, whatever this process has used before', async (t) => {
  const home = t.testdir();
  await addTiny(home);
  let ballast: Buffer | null = Buffer.alloc(1.5e9, 1);
  t.equal(ballast.at(-1), 1);
  ballast = null;
  const { threadBytes, rates } = await checkModelApart(join(home, 'models', TINY), options);
  t.ok(threadBytes > 1e7 && threadBytes < 1e9, `${threadBytes} bytes`);
  t.ok(rates.length > 0);
});

t.test('checkModelApart() measures the speed in a conversation, since short clips are padded to several times their length', async (t) => {
  const home = t.testdir();
  await addTiny(home);
  const measured = (speed: boolean) => checkModelApart(join(home, 'models', TINY), { diarization, threads: 1, speed });
  const [inClips, inTalk] = [await measured(false), await measured(true)];
  t.ok(inTalk.cpuLoad < 0.8 * inClips.cpuLoad, `${inTalk.cpuLoad} and ${inClips.cpuLoad} s of CPU time per second of audio`);
  const counted = ({ rates }: Measured) => rates.map(({ errors: _, ...rest }) => rest);
  t.strictSame(counted(inTalk), counted(inClips));
  const [errors, others] = [inTalk, inClips].map(({ rates }) => rates.reduce((sum, { errors }) => sum + errors, 0)) as [number, number];
  t.ok(Math.abs(errors - others) < 0.1 * others, `${errors} and ${others} errors: 8-bit results depend on what is decoded beside them`);
});

t.test('checkModelApart() leaves no recordings behind when it is interrupted', async (t) => {
  const home = t.testdir({ temporary: {} });
  await addTiny(home);
  const temporary = join(home, 'temporary');
  const stop = new AbortController();
  const checked = checkModelApart(join(home, 'models', TINY), { diarization, threads: 1 }, stop.signal, temporary);
  const rejected = t.rejects(checked, { message: 'enough' });
  while (!readdirSync(temporary, { recursive: true }).some((name) => `${name}`.endsWith('.wav'))) await sleep(10);
  stop.abort(new Error('enough'));
  await rejected;
  t.strictSame(readdirSync(temporary), []);
});

t.test('checkModelApart() passes the error of its process on', async (t) => {
  await t.rejects(checkModelApart(join(t.testdir(), 'missing'), options), { message: /missing/ });
});

t.test('a process apart does nothing if the one that awaits it was killed while it was loading', async (t) => {
  const apart = JSON.stringify(new URL('../../../bench/apart.ts', import.meta.url).href);
  const child = `
    import { setTimeout as sleep } from 'node:timers/promises';
    import { answer } from ${apart};
    console.error('loading');
    while (process.connected) await sleep(5);
    await answer(async () => console.error('working'));`;
  const parent = `
    import { apart } from ${apart};
    void apart(import.meta.resolve('./child.mjs'), [], 'A child');
    process.kill(process.pid, 'SIGKILL');`;
  const folder = t.testdir({ 'child.mjs': child, 'parent.mjs': parent });
  const { stderr } = await finish(process.execPath, [...RUN, join(folder, 'parent.mjs')]);
  t.match(stderr, 'loading');
  t.notMatch(stderr, 'working');
});

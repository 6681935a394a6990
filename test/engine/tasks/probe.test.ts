import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { LIMITS } from '../../../api/contract/limits.ts';
import { installationId, registerEngine } from '../../../db/jobs/engines.ts';
import { findTools } from '../../../engine/audio/ffmpeg.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import { openHoldings } from '../../../engine/tasks/holdings.ts';
import { nextProbe } from '../../../engine/tasks/probe.ts';
import { openScratch } from '../../../engine/tasks/scratch.ts';
import { engineBench } from '../../support/engine.ts';
import { engineFacts } from '../../support/work.ts';

const { db, vault, home, spool, ...bench } = await engineBench(t);
const facts = engineFacts();
await registerEngine(db, facts);
const scratch = await openScratch(await installationId(db), facts.id, home);
t.teardown(() => scratch.close());
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const holdings = openHoldings(db, silent);
t.teardown(() => holdings.close());

t.test('nextProbe() finds the duration of raw AAC and MP3 that begin with silence', async (t) => {
  const engine = {
    ...{ id: facts.id, db, vault, spool, scratch, holdings, log: silent, limits: LIMITS },
    trouble: { over: async () => true },
    counts: { finished: 0 },
  } as unknown as Engine;
  const workspace = await bench.workspace();
  const { ffmpeg } = await findTools();
  const sound = ['-f', 'lavfi', '-i', 'aevalsrc=0:d=10', '-f', 'lavfi', '-i', 'anoisesrc=d=50:r=16000'];
  for (const [extension, ...options] of [['aac'], ['mp3', '-q:a', '4', '-write_xing', '0']] as const) {
    const path = join(t.testdir(), `minute.${extension}`);
    const joined = ['-filter_complex', 'concat=n=2:v=0:a=1', '-ac', '1', '-ar', '16000'];
    await promisify(execFile)(ffmpeg, ['-v', 'error', '-y', ...sound, ...joined, ...options, path]);
    const id = await bench.upload(workspace, await readFile(path), { extension });
    await (await nextProbe(engine, () => {}))!();
    const row = await bench.row<{ duration_seconds: number }>('transcriptions', id);
    t.equal(Math.round(row!.duration_seconds), 60, extension);
  }
});

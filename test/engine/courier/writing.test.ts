/* Reports by a language model in real courier processes: couriers killed and reports deleted during a call, and usage counted. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Writing } from '../../../db/jobs/heartbeat.ts';
import { reclaimReports } from '../../../db/jobs/sweep.ts';
import { readLayer, requestLayer } from '../../../db/reports/layers.ts';
import { openWorld } from '../../support/databases/world.ts';
import { engineBench } from '../../support/engine/engine.ts';
import { SEED, seeded } from '../../support/seeded.ts';
import { type Answer, startLlm } from '../../support/servers/llm-server.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const { random } = seeded();
t.comment(`SEED=${SEED} repeats the random moments`);
const bench = await engineBench(t);
const { db } = bench;
const world = openWorld(db, bench.vault);
const owner = await world.member(await world.workspace(), { role: 'owner' });
const TURNS = [{ start: 0, end: 9, speaker: 'speaker_1', text: 'We decided to paint the bridge green before the first of May.' }];

interface Row {
  status: string;
  attempt: number;
  deaths: number;
  lease_token: string | null;
  text_sealed: Buffer | null;
}

/** A model whose calls take 1 h until `wake` is called. */
async function sleeper(t: Test) {
  let asleep = true;
  const server = await startLlm((): Answer => (asleep ? { delay: 3_600_000 } : {}));
  t.teardown(server.close);
  const wake = () => void (asleep = false);
  return { server, wake, env: { LLM_BASE_URL: server.url } };
}

async function until<T>(what: string, look: () => Promise<T | undefined> | T | undefined, seconds = 120): Promise<T> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(50)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`Timed out after ${seconds} s: ${what}`);
}

const report = async () => world.report(await world.transcription(owner, { turns: TURNS, language: 'en' }), 'summary', 'queued');
const ended = (id: string) =>
  until('the report to end', async () => {
    const row = await bench.row<Row>('reports', id);
    return row && /completed|failed/.test(row.status) ? row : undefined;
  });

for (let round = 0; round < ROUNDS; round++) {
  t.test('courier killed during a model call: the report is written by another, and the call is cancelled', async (t) => {
    const { server, wake, env } = await sleeper(t);
    const id = await report();
    const courier = await bench.courier(env);
    await until('a model call', () => server.calls.length > 0);
    await sleep(random() * 1000);
    await courier.stop('SIGKILL');
    await until('the disconnect of the courier', () => server.left > 0);
    wake();
    await bench.expire('reports', id); // as after 60 s
    await db.acrossTenants((tx) => tx.rows(`update engines set last_seen = now() - interval '2 minutes'`));
    await reclaimReports(db); // as in the sweep of an engine
    const heir = await bench.courier(env);
    const row = await ended(id);
    t.match(row, { status: 'completed', attempt: 2, deaths: 1, lease_token: null });
    const text = await bench.vault.text(owner.workspaceId, `reports|${id}|text`, row.text_sealed);
    t.match(text, 'paint the bridge green');
    const writing = await until('the metrics of the courier', async () => {
      const [found] = await db.query<{ writing: Partial<Writing> }>('*', 'select writing from engines order by last_seen desc limit 1');
      return found?.writing.calls?.ok ? found.writing : undefined;
    });
    t.match(writing, { model: 'test-model', calls: { ok: 1 }, promptTokens: Number, completionTokens: Number, dropped: 0 });
    t.ok(writing.promptTokens! > 100);
    t.equal(await heir.stop(), 0);
  });
}

t.test('courier warns that a model without the URL of its service has no effect', async (t) => {
  for (const [given, warns] of [
    [{ LLM_MODEL: 'gemma' }, true],
    [{}, false],
  ] as const) {
    const courier = await bench.courier(given);
    t.equal(/without LLM_BASE_URL/.test(courier.output.stdout + courier.output.stderr), warns);
    await courier.stop('SIGTERM');
  }
});

t.test('courier stopped during a model call requeues the report without counting an attempt', async (t) => {
  const { server, wake, env } = await sleeper(t);
  const id = await report();
  const courier = await bench.courier(env);
  await until('a model call', () => server.calls.length > 0);
  t.equal(await courier.stop(), 0);
  await until('the disconnect of the courier', () => server.left > 0);
  t.match(await bench.row('reports', id), { lease_token: null, attempt: 0, deaths: 0 });
  wake();
  const heir = await bench.courier(env);
  t.match(await ended(id), { status: 'completed', attempt: 1, deaths: 0 });
  t.equal(await heir.stop(), 0);
});

t.test('courier stopped while it writes a title and a summary leaves them to another', async (t) => {
  const { server, wake, env } = await sleeper(t);
  const { workspaceId } = owner;
  const segments = TURNS.map((turn, id) => ({ id, ...turn }));
  const id = await world.transcription(owner, { language: 'en' });
  const request = await requestLayer(db, bench.vault, { workspaceId, id }, { language: 'en', durationSeconds: 9, segments });
  const courier = await bench.courier(env);
  await until('a model call', () => server.calls.length > 0);
  const stopping = performance.now();
  t.equal(await courier.stop(), 0);
  t.ok(performance.now() - stopping < 60_000, 'within the time that service managers allow');
  t.equal(await readLayer(db, bench.vault, request), 'queued');
  wake();
  const heir = await bench.courier(env);
  const layer = await until('the title', async () => {
    const found = await readLayer(db, bench.vault, request);
    return found && typeof found === 'object' ? found : undefined;
  });
  t.match(layer, { title: String, writer: 'model' });
  t.equal(await heir.stop(), 0);
});

t.test('courier closes the model call if the transcription is deleted', async (t) => {
  const { server, env } = await sleeper(t);
  const id = await report();
  const courier = await bench.courier(env);
  await until('a model call', () => server.calls.length > 0);
  await db.acrossTenants((tx) =>
    tx.rows('delete from transcriptions where id = (select transcription_id from reports where id = ?)', [id]),
  );
  await until('the disconnect of the courier', () => server.left > 0);
  t.equal(await bench.row('reports', id), null);
  await until('the log message', () => courier.output.stderr.includes('report stopped: deleted or taken over'));
  t.equal(await courier.stop(), 0);
});

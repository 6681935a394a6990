/* Reports from queue to completion, without speech models: the tasks of a courier over a real database, with real writers. */
import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { REPORT_ERRORS, type ReportErrorCode } from '../../../api/contract/errors.ts';
import { LEASE } from '../../../api/contract/limits.ts';
import { type ClaimedTranscription, claimNext } from '../../../db/jobs/claim.ts';
import { fail } from '../../../db/jobs/complete.ts';
import { openVault, type Vault } from '../../../db/secrets/vault.ts';
import type { Courier } from '../../../engine/courier/courier.ts';
import { nextReport } from '../../../engine/courier/report.ts';
import { openWriter, type Writer } from '../../../engine/reports/writer.ts';
import { openHoldings } from '../../../engine/tasks/holdings.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld, type Person, TURNS } from '../../support/databases/world.ts';
import { openBench } from '../../support/engine/work.ts';
import { type Answer, startLlm } from '../../support/servers/llm-server.ts';

const { db } = await testDatabase(t);
const { vault, ...bench } = await openBench(db);
const world = openWorld(db, vault);
const logged: object[] = [];
const note = (fields: object) => void logged.push(fields);
const log = { debug: note, info: note, warn: note, error: note };
const holdings = openHoldings(db, log);
t.teardown(() => holdings.close());

/** A courier without its queue. */
function courierWith(writer: Writer): Courier {
  return { id: randomUUID(), db, vault, log, holdings, writer, privateWebhooks: false };
}

/** Writes all waiting reports one after the other. Returns their workspaces in order. */
async function drain(courier: Courier): Promise<string[]> {
  const order: string[] = [];
  for (let job = await nextReport(courier); job; job = await nextReport(courier)) {
    const [row] = await db.query<{ workspace_id: string }>('*', `select workspace_id from reports where lease_token is not null`);
    order.push(row!.workspace_id);
    await job();
    await bench.due();
  }
  return order;
}

interface Row {
  status: string;
  error_code: ReportErrorCode | null;
  attempt: number;
  text_sealed: Buffer | null;
}
const provoked = new Set<string>();

/** Final state of a report that a courier with this writer processes. */
async function ended(writer: Writer, id: string): Promise<Row> {
  await drain(courierWith(writer));
  const row = (await bench.row<Row>('reports', id))!;
  if (row.error_code) provoked.add(row.error_code);
  return row;
}

const owner: Person = await world.member(await world.workspace(), { role: 'owner' });
const requested = async (slug = 'summary', turns = TURNS) =>
  world.report(await world.transcription(owner, { turns, language: 'en' }), slug, 'queued');

t.test('couriers write all of 200 reports of 5 workspaces, round-robin', async (t) => {
  const people: Person[] = [];
  for (let i = 0; i < 5; i++) people.push(await world.member(await world.workspace({ name: `W${i}` }), { role: 'owner' }));
  const counts = [120, 40, 20, 15, 5]; // the first workspace requested all of its reports before the others
  for (const [index, person] of people.entries()) {
    const talks = await Promise.all(
      Array.from({ length: Math.ceil(counts[index]! / 20) }, () => world.transcription(person, { language: 'en' })),
    );
    await db.acrossTenants((tx) =>
      tx.rows(
        `insert into reports (workspace_id, transcription_id, slug, name, status, created_at)
         select ?, (?::uuid[])[1 + n / 20], (array['summary','key-points','topics-outline','questions-answers','quotes','tasks','meeting-minutes','decisions','one-on-one','standup','retrospective','sales-call-review','bant','objections','next-steps','follow-up-email','support-call-review','complaint-summary','call-quality-checklist','interview-notes'])[1 + n % 20],
           'name', 'queued', clock_timestamp() from generate_series(0, ? - 1) n`,
        [person.workspaceId, `{${talks.join()}}`, counts[index]!],
      ),
    );
  }
  const courier = courierWith(openWriter({}));
  const working: { workspace: string; job: () => Promise<void> }[] = [];
  const order: string[] = [];
  const seen = new Set<string>();
  for (;;) {
    const job = working.length < 5 ? await nextReport(courier) : null; // five slots, as in an installation with several engines
    if (job) {
      const rows = await db.query<{ id: string; workspace_id: string }>(
        '*',
        `select id, workspace_id from reports where lease_token is not null`,
      );
      const taken = rows.find(({ id }) => !seen.has(id))!;
      seen.add(taken.id);
      order.push(taken.workspace_id);
      working.push({ workspace: taken.workspace_id, job });
    } else if (working.length) await working.shift()!.job();
    else break;
  }
  t.equal(order.length, 200);
  const first = order.slice(0, 25);
  for (const { workspaceId } of people)
    t.equal(first.filter((id) => id === workspaceId).length, 5, 'while all have work, each workspace gets one slot in five');
  const rows = await db.query<{ status: string; count: number }>('*', `select status, count(*)::int as count from reports group by status`);
  t.strictSame(rows, [{ status: 'completed', count: 200 }]);
  t.strictSame([...new Set(logged.map((fields) => Object.keys(fields).join()))], ['report,slug,dropped,tokens']);
});

t.test('courier with two slots serves every workspace round-robin, not only the first ones', async (t) => {
  const people: Person[] = [];
  for (let i = 0; i < 4; i++) people.push(await world.member(await world.workspace(), { role: 'owner' }));
  for (const person of people)
    for (const slug of ['summary', 'tasks', 'quotes'])
      await world.report(await world.transcription(person, { language: 'en' }), slug, 'queued');
  const courier = courierWith(openWriter({}));
  const order: string[] = [];
  const working: (() => Promise<void>)[] = [];
  const seen = new Set<string>();
  for (let job = await nextReport(courier); job || working.length; job = working.length < 2 ? await nextReport(courier) : null) {
    if (job) {
      const held = await db.query<{ id: string; workspace_id: string }>(
        '*',
        'select id, workspace_id from reports where lease_token is not null',
      );
      const taken = held.find(({ id }) => !seen.has(id))!;
      seen.add(taken.id);
      order.push(taken.workspace_id);
      working.push(job);
    }
    if (working.length === 2 || !job) await working.shift()!();
  }
  const ids = people.map(({ workspaceId }) => workspaceId).sort();
  for (const round of [0, 4, 8]) t.strictSame(order.slice(round, round + 4).sort(), ids, 'each once in every round');
});

t.test('courier logs the dropped statements and the usage of a report', async (t) => {
  const server = await startLlm();
  t.teardown(server.close);
  const id = await requested();
  logged.length = 0;
  t.match(await ended(openWriter({ baseUrl: server.url }), id), { status: 'completed' });
  t.match(logged, [{ report: id, slug: 'summary', dropped: Number, tokens: { input: Number, output: Number } }]);
  t.notMatch(JSON.stringify(logged), /Hello|there/);
});

t.test('courier fails a report with the code of the language model error, after as many attempts as the error allows', async (t) => {
  const cases: [ReportErrorCode, number, Answer, object?][] = [
    ['LLM_UNAVAILABLE', LEASE.attempts, { status: 503 }],
    ['LLM_UNAVAILABLE', 1, { status: 401 }],
    ['LLM_TIMEOUT', LEASE.attempts, { delay: 2000 }, { patience: { silentSeconds: 0.05, totalSeconds: 60 } }],
    ['LLM_REFUSED', 1, { content: '', refusal: 'I cannot help with Hello there.' }],
    ['LLM_INVALID_OUTPUT', 0, { content: '{"answer": "Hello there."}' }],
  ];
  for (const [code, attempts, answer, settings] of cases) {
    const server = await startLlm(() => answer);
    logged.length = 0;
    const row = await ended(openWriter({ baseUrl: server.url, backoffMilliseconds: 1, ...settings }), await requested());
    await server.close();
    t.match(row, { status: 'failed', error_code: code, text_sealed: null });
    if (attempts) t.equal(row.attempt, attempts, `${code} ${JSON.stringify(answer)}`);
    t.notMatch(JSON.stringify(logged), /Hello there/, 'the log quotes neither model nor transcript');
  }
});

t.test('courier fails the report of a transcript that is too long, empty or without its template with the right code', async (t) => {
  const server = await startLlm(() => ({ status: 400, error: { message: "This model's maximum context length is 16 tokens" } }));
  t.teardown(server.close);
  const long = [{ start: 0, end: 4, speaker: 'speaker_1', text: 'word '.repeat(2000) }];
  const small = openWriter({ baseUrl: server.url, model: 'm', contextTokens: 64, backoffMilliseconds: 1 });
  t.match(await ended(small, await requested('summary', long)), { status: 'failed', error_code: 'TRANSCRIPT_TOO_LONG', attempt: 1 });
  t.match(await ended(openWriter({}), await requested('summary', [])), { status: 'failed', error_code: 'TRANSCRIPT_EMPTY', attempt: 1 });
  t.match(await ended(openWriter({}), await requested('gone')), { status: 'failed', error_code: 'TEMPLATE_UNAVAILABLE', attempt: 1 });
});

t.test('courier fails a report with INTERNAL_ERROR on an internal fault, and a failed transcription fails its reports', async (t) => {
  const broken: Writer = {
    ...openWriter({}),
    kind: 'extractive',
    name: 'broken',
    write: () => Promise.reject(new TypeError('a bug')),
    describe: () => Promise.reject(new Error()),
  };
  t.match(await ended(broken, await requested()), { status: 'failed', error_code: 'INTERNAL_ERROR', attempt: LEASE.attempts });
  const workspace = await bench.workspace();
  const id = await bench.transcription(workspace, { reports: ['summary'] });
  const claim = (await claimNext(db, { engineId: randomUUID(), shortOnly: false })) as ClaimedTranscription;
  t.equal(claim.lease.id, id);
  await fail(db, claim.lease, 'FILE_CORRUPTED');
  const [row] = await db.query<Row>('*', 'select * from reports where transcription_id = ?', [id]);
  t.match(row, { status: 'failed', error_code: 'TRANSCRIPTION_FAILED' });
  provoked.add(row!.error_code!);
});

t.test('courier fails no report because it was started with a former master key; one with the newest writes it', async (t) => {
  const former = Buffer.from(bench.masterKey, 'base64');
  const id = await requested();
  const before = await openVault(db, [former]);
  const after = await openVault(db, [randomBytes(32), former]);
  await after.rotate();
  const write = async (own: Vault) => {
    await bench.due();
    await (await nextReport({ ...courierWith(openWriter({})), vault: own }))!();
    return bench.row<Row>('reports', id);
  };
  for (let times = 0; times <= LEASE.attempts; times++)
    t.match(await write(before), { status: 'processing', error_code: null, attempt: 0 });
  t.match(await write(after), { status: 'completed' });
});

t.test('courier: every error code of reports occurred in these tests', async (t) => {
  t.strictSame([...provoked].sort(), [...REPORT_ERRORS].sort());
});

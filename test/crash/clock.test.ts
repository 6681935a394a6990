/* Host clocks that are wrong by up to a day. Jumps of PostgreSQL's clock, which is authoritative, are tested in leap.test.ts. */
import t from 'tap';
import { connectRaw, head } from '../support/api/raw.ts';
import { send, uploadHeaders } from '../support/api/uploads.ts';
import { aftermath } from '../support/databases/aftermath.ts';
import { excerpt, type TranscriptionRow } from '../support/engine/engine.ts';
import { TINY } from '../support/engine/models.ts';
import { eventually, openService } from '../support/processes/service.ts';
import { SEED, seeded } from '../support/seeded.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const { random } = seeded();
t.comment(`SEED=${SEED} repeats the random shifts`);
const DAY_MS = 86_400_000;
const WAV = { 'Content-Disposition': 'attachment; filename="call.wav"' };

for (let round = 0; round < ROUNDS; round++) {
  t.test('hosts whose clocks are up to a day fast or slow work together as if the clocks were correct', async (t) => {
    const service = await openService(t, { model: TINY });
    const { db, key, workspaceId } = service;
    const shifted = (ms: number) => ({
      CLOCK_SHIFT_MS: String(ms),
      NODE_OPTIONS: `--import=${new URL('../support/processes/shifted.mjs', import.meta.url).href}`,
    });
    const [later, earlier] = [shifted(Math.round(DAY_MS * (1 - 0.9 * random()))), shifted(-Math.round(DAY_MS * (1 - 0.9 * random())))];
    const [ahead, behind] = await Promise.all([service.api(later), service.api(earlier)]);
    await db.query('*', `update api_keys set expires_at = now() + interval '1 hour'`);
    const wav = await excerpt();
    const slow = await connectRaw(ahead.url);
    slow.write(head('POST', '/v1/transcriptions', uploadHeaders(key, { ...WAV, 'Content-Length': wav.length })));
    let sent = 0;
    const drip = setInterval(() => slow.write(wav.subarray(sent, (sent += 100))), 2000); // still in flight when the sweepers of both engines run
    t.teardown(() => clearInterval(drip));

    const [first, second] = await Promise.all([
      send(ahead.url, key, { ...WAV, 'Idempotency-Key': 'one' }, '', wav),
      send(behind.url, key, { ...WAV, 'Idempotency-Key': 'two' }, '', wav),
    ]);
    t.strictSame([first.status, second.status], [201, 201], 'an API key that expires in 1 h is valid on both hosts');
    t.equal((await send(behind.url, key, { ...WAV, 'Idempotency-Key': 'one' }, '', wav)).json.uuid, first.json.uuid);
    t.equal((await send(ahead.url, key, { ...WAV, 'Idempotency-Key': 'two' }, '', wav)).json.uuid, second.json.uuid);
    const broken = await connectRaw(ahead.url);
    broken.write(
      head('POST', '/v1/transcriptions', uploadHeaders(key, { ...WAV, 'Content-Length': wav.length, 'X-External-Id': 'broken' })),
    );
    broken.write(wav.subarray(0, 5000));
    await eventually(async () => (await db.query('*', 'select 1 from upload_leases')).length === 2, 'both slow uploads in flight');
    broken.end(true);
    await eventually(
      async () => (await db.query('*', `select 1 from transcriptions where status = 'failed'`)).length,
      'the record of the aborted upload',
    );

    const engines = await Promise.all([service.engine(later), service.engine(earlier)]);
    const swept = () => engines.every(({ output }) => /"msg":"working"/.test(output.stderr));
    await eventually(swept, 'sweeps by both engines');
    for (const { json } of [first, second]) await service.until<TranscriptionRow>(json.uuid, ({ status }) => status === 'completed', 300);
    clearInterval(drip);
    slow.write(wav.subarray(sent));
    const third = await slow.answer();
    t.equal(third.status, 201, 'its slot was kept');
    await service.until<TranscriptionRow>(third.json.uuid, ({ status }) => status === 'completed', 240);
    for (const { json } of [first, second, third]) {
      t.match(await service.row('transcriptions', json.uuid), { deaths: 0, error_code: null }, 'no engine was declared dead');
    }
    await aftermath(t, service);
    const times = await db.query<{ column: string; apart: number }>(
      '*',
      `select c.name as column, extract(epoch from now() - c.at)::float8 as apart from transcriptions t cross join lateral (values
         ('created_at', t.created_at), ('updated_at', t.updated_at), ('completed_at', t.completed_at), ('started_at', t.started_at)) c (name, at)
       where c.at is not null and t.workspace_id = ?`,
      [workspaceId],
    );
    t.ok(times.length >= 14, 'the aborted upload included');
    t.strictSame(
      times.filter(({ apart }) => apart < -5 || apart > 1200),
      [],
      'all timestamps come from the database',
    );
  });
}

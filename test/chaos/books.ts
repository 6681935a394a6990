import { readdirSync } from 'node:fs';
import { leftovers, released } from '../support/databases/aftermath.ts';
import { eventually } from '../support/processes/service.ts';
import type { Load } from './load.ts';
import type { Stage } from './stage.ts';

const HEALTH_SECONDS = 30; // after which the balancer has asked each API several times
const RELEASE_SECONDS = 600; // of back-offs, leases and repeated work after the last fault
const SPOOL_MARK = '.longhand-'; // names the installation that the spool belongs to
const ENDED = "status in ('completed', 'failed', 'insufficient_balance')";

interface Row {
  id: string;
  status: string;
  error_code: string | null;
}

/** How the accepted uploads ended, and everything that does not balance. */
export interface Books {
  /** Number of transcriptions by status and error. */
  ended: Map<string, number>;
  wrong: string[];
}

/** Waits until all work has ended, then compares what clients were told with what is stored, charged, delivered and left on disks. */
export async function balance({ service, disk, calls }: Stage, { accepted, violations }: Load): Promise<Books> {
  const { db } = service;
  const wrong = [...violations];
  const note = (error: Error) => void wrong.push(error.message);
  await released(service, RELEASE_SECONDS).catch(note);
  const hurried = "update deliveries set next_at = now() where status = 'pending' and next_at > now()"; // instead of waiting for up to 8 hours
  const pending = async () => {
    await db.query('*', hurried);
    return (await db.query('*', "select 1 from deliveries where status = 'pending'")).length;
  };
  await eventually(async () => !(await pending()), 'the delivery of all webhooks', RELEASE_SECONDS).catch(note);
  wrong.push(...(await leftovers(service)));
  const left = () =>
    disk ? readdirSync(disk.path, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith(SPOOL_MARK)) : [];
  await eventually(async () => !left().length, 'the end of a health check, which writes a file', HEALTH_SECONDS).catch(() => {});
  wrong.push(...left().map((name) => `a file in the spool: ${name}`));

  const rows = await db.query<Row>('*', 'select id, status, error_code from transcriptions');
  const stored = new Map(rows.map((row) => [row.id, row]));
  const told = new Map(accepted.map((one) => [one.id, one]));
  if (told.size < accepted.length) wrong.push(`${accepted.length - told.size} uploads got the id of another one`);
  for (const { id, recording, deleted } of accepted) {
    const row = stored.get(id);
    if (deleted && row) wrong.push(`${id} was deleted and exists`);
    if (!deleted && !row) wrong.push(`${id} was accepted and does not exist`);
    if (row && row.status !== recording.ends && row.error_code !== 'ENGINE_ERROR') wrong.push(`${recording.name} ended as ${nameOf(row)}`);
  }
  const untold = rows.filter(({ id, error_code }) => !told.has(id) && error_code !== 'UPLOAD_INCOMPLETE'); // left by an interrupted upload
  wrong.push(...untold.map(({ id }) => `${id} exists and no client was told`));

  const events = await db.query<{ id: string; subject: string; status: string }>(
    '*',
    `select id, body ->> 'transcription_id' as subject, status from deliveries where event like 'transcription.%'`,
  );
  const perSubject = new Map<string, number>();
  for (const { id, subject, status } of events) {
    perSubject.set(subject, (perSubject.get(subject) ?? 0) + 1);
    if (status !== 'delivered' || !calls.has(id)) wrong.push(`webhook ${id} is ${status}, received ${calls.get(id) ?? 0} times`);
  }
  for (const { id } of await db.query<Row>('*', `select id from transcriptions where ${ENDED}`))
    if (perSubject.get(id) !== 1) wrong.push(`${perSubject.get(id) ?? 0} events of ${id}`);
  return { ended: counted(rows.map(nameOf)), wrong };
}

function nameOf({ status, error_code }: Row): string {
  return error_code ? `${status} (${error_code})` : status;
}

function counted<T>(values: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

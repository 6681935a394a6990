import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '../../api/contract/limits.ts';
import { TERMINAL, type Transcription, type Uploaded } from '../../api/contract/transcription.ts';
import { type Client, openClient, Refusal } from './client.ts';
import { type Entry, type Found, find, type Ledger, ledgerPath, openLedger } from './ledger.ts';
import { limited } from './limited.ts';
import { print } from './output.ts';
import { NO_BAR, openBar } from './progress.ts';
import { moveTo, type Recording } from './recordings.ts';
import { sentence } from './sentence.ts';

export interface UploadOptions {
  url: string;
  key: string;
  externalId?: string;
  metadata?: string;
  author?: string;
  reports?: string;
  language?: string;
  parallel: number;
  /** Seconds. */
  minAge?: number;
  doneDir?: string;
  ledger?: string;
  again?: boolean;
  wait?: boolean;
  json?: boolean;
}

const POLL_MS = 5000;
const REMEMBERED_MS = LIMITS.IDEMPOTENCY_HOURS * 3_600_000;

interface Row {
  file: string;
  id: string | null;
  /** Of the transcription, or why the file was rejected. */
  status: string;
}

const SENT_BEFORE = 'sent before';
const REFUSED_BEFORE = 'refused before'; // followed by the reason
const GOOD = new Set<string>(['queued', 'processing', 'completed', SENT_BEFORE]);
/** Refusals that lie in the file: the next run does not send it again. */
const FILE_FAULTS = new Set(['unsupported_file_format', 'file_too_small', 'file_size_limit_exceeded', 'filename_required']);

/**
 * Uploads files with limited concurrency, then with `wait` waits for each, and prints a table of results, or the transcript of a single
 * file. A rejected file does not stop the others. Content that was sent before is not sent again, even after a kill at any moment.
 */
export async function uploadFiles(recordings: readonly Recording[], options: UploadOptions): Promise<void> {
  const client = openClient(options.url, options.key);
  const ledger = openLedger(options.ledger ?? ledgerPath());
  const rows = await Promise.all(limited(options.parallel, recordings, (recording) => uploadOne(client, ledger, recording, options)));
  for (const row of options.wait ? rows : [])
    if (row.id) await awaitOne(client, row, row.id, options.json ? 'json' : rows.length === 1 ? 'text' : null);
  if (!options.wait && options.json) for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
  const sent = rows.filter(({ status }) => status === SENT_BEFORE);
  const refused = rows.filter(({ status }, index) => status.startsWith(REFUSED_BEFORE) && recordings[index]!.listed);
  const all = options.wait || rows.length === 1;
  const news = all ? rows : rows.filter((row) => !sent.includes(row) && !refused.includes(row)); // a folder is looked at again and again
  if (!options.json && news.length && (rows.length > 1 || !options.wait)) print(news, false);
  if (sent.length && !all) process.stderr.write(`${sent.length} uploaded before; --again uploads them anyway\n`);
  if (refused.length) process.stderr.write(`${refused.length} refused before because of the file itself; --again tries them again\n`);
  if (rows.some((row) => !GOOD.has(row.status) && !refused.includes(row))) process.exitCode = 1;
}

async function uploadOne(client: Client, ledger: Ledger, recording: Recording, options: UploadOptions): Promise<Row> {
  const { file } = recording;
  const bar = options.parallel > 1 ? NO_BAR : openBar(path.basename(file));
  try {
    const found = await find(file);
    const row = await once(client, ledger, recording, found, options, bar.to);
    if (!options.doneDir || !row.id) return row;
    if ((await find(file)).stamp === found.stamp) await moveTo(options.doneDir, recording);
    else process.stderr.write(`${file}: changed since it was read, so it stays; the next run uploads it\n`);
    return row;
  } catch (error) {
    const reason = sentence(error);
    process.stderr.write(`${file}: ${reason}\n`);
    return { file, id: null, status: reason };
  } finally {
    bar.close();
  }
}

/** Sends one file, unless its content was sent before. What is going to be done stands in the ledger before it is done. */
async function once(
  client: Client,
  ledger: Ledger,
  { file, listed }: Recording,
  found: Found,
  options: UploadOptions,
  onProgress: (fraction: number) => void,
): Promise<Row> {
  const sha256 = await ledger.hash(path.resolve(file), found);
  const before = options.again ? null : ledger.find(client.service, sha256);
  if (before?.state === 'sent') return { file, id: before.id, status: SENT_BEFORE };
  if (before?.state === 'refused' && listed) return { file, id: null, status: `${REFUSED_BEFORE}: ${before.reason}` };
  if (before?.state === 'refused') throw new Error(`${REFUSED_BEFORE}: ${before.reason}; --again tries it again`); // the service does not have it
  const entry: Entry = {
    ...{ state: 'sending', sha256, service: client.service, key: options.again ? randomUUID() : `upload-${sha256}` },
    ...{ at: before?.at ?? new Date().toISOString(), id: null, file: path.resolve(file), stamp: found.stamp },
  };
  const own = { ...options, externalId: options.externalId ?? `sha256:${sha256}` };
  const killed = before && (await findEarlier(client, ledger, before, own.externalId, options.externalId === undefined ? null : file));
  if (!killed) ledger.write(entry);
  try {
    const { uuid, status } = killed ?? (await client.upload<Uploaded>(file, found.size, entry.key, query(own), headers(own), onProgress));
    ledger.write({ ...entry, state: 'sent', id: uuid });
    return { file, id: uuid, status };
  } catch (error) {
    if (error instanceof Refusal && FILE_FAULTS.has(error.code)) ledger.write({ ...entry, state: 'refused', reason: error.message });
    throw error;
  }
}

/**
 * Looks for the transcription of an attempt without a response, because the service forgets the key of an upload after a day. `file`: its
 * name also has to be that of the transcription, because an external id that was given may be that of other recordings.
 */
async function findEarlier(client: Client, ledger: Ledger, { service, at }: Entry, externalId: string, file: string | null) {
  const name = file === null ? null : path.basename(file).normalize('NFC');
  try {
    return await client.find(externalId, at, ({ id, title }) => !ledger.knows(service, id) && (name === null || title === name));
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 403) throw error;
    if (Date.now() - Date.parse(at) < REMEMBERED_MS) return null; // the service will say that it has it
    throw new Error(
      'an earlier upload had no response, and this key may not ask whether the service has the file: use a key with the permission read, or upload it anyway with --again',
      { cause: error },
    );
  }
}

/** Waits until a transcription has ended, notes its status in the row, and prints it. One that cannot be read does not stop the others. */
async function awaitOne(client: Client, row: Row, id: string, format: 'json' | 'text' | null): Promise<void> {
  try {
    const found = await finished(client, id);
    row.status = found.error_code ? `${found.status}: ${found.error_code}` : found.status;
    if (format === 'json') process.stdout.write(`${JSON.stringify({ file: row.file, ...found })}\n`);
    if (format === 'text') process.stdout.write(`${plain(found)}\n`);
  } catch (error) {
    row.status = sentence(error);
    process.stderr.write(`${row.file}: ${row.status}\n`);
  }
}

async function finished(client: Client, id: string): Promise<Transcription> {
  for (;;) {
    const record = await client.get<Transcription>(`transcriptions/${id}`);
    const reporting = record.prompt_results.some((report) => report.status === 'queued' || report.status === 'processing');
    if (TERMINAL.has(record.status) && !reporting) return record;
    await sleep(POLL_MS);
  }
}

function plain({ text, error_code: code, status, prompt_results: reports }: Transcription): string {
  if (status !== 'completed') return code ? `${status}: ${code}` : status;
  return [text, ...reports.map((report) => `\n## ${report.name}\n\n${report.text ?? report.error_code}`)].join('\n');
}

function query({ reports, language }: UploadOptions): URLSearchParams {
  return new URLSearchParams(Object.entries({ reports, language }).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function headers({ externalId, metadata, author }: UploadOptions): Record<string, string> {
  const given = { 'X-External-Id': externalId, 'X-Metadata': metadata && ascii(metadata), 'X-Author': author };
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** Equivalent JSON in ASCII, which is safe in a header. */
function ascii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

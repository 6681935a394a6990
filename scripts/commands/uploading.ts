import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXTENSIONS } from '../../api/contract/formats.ts';
import { TERMINAL, type Transcription, type Uploaded } from '../../api/contract/transcription.ts';
import { type Client, openClient } from './client.ts';
import { limited } from './limited.ts';
import { print } from './output.ts';
import { NO_BAR, openBar } from './progress.ts';
import { sentence } from './sentence.ts';
import type { UploadOptions } from './upload.ts';

const POLL_MS = 5000;

/** The given files, and all files in given folders with an extension that the service accepts. */
export async function findRecordings(names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) {
    if (!(await stat(name)).isDirectory()) {
      found.push(name);
      continue;
    }
    const entries = await readdir(name, { recursive: true, withFileTypes: true });
    const accepted = entries.filter((entry) => EXTENSIONS.has(path.extname(entry.name).slice(1).toLowerCase()));
    const files = await Promise.all(
      accepted.map(async (entry) => ((await isFile(entry)) ? [path.join(entry.parentPath, entry.name)] : [])),
    );
    found.push(...files.flat().sort());
  }
  if (!found.length) throw new Error(`There is nothing to upload in ${names.join(', ')}`);
  return found;
}

/** Whether it is a file or a link to one. Links to folders are not followed, because they may be circular. */
async function isFile(entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isFile();
  const target = await stat(path.join(entry.parentPath, entry.name)).catch(() => null); // it may be broken
  return target?.isFile() ?? false;
}

interface Row {
  file: string;
  id: string | null;
  /** Of the transcription, or why the file was rejected. */
  status: string;
}

/**
 * Uploads files with limited concurrency, then with `wait` waits for each, and prints a table of results, or the transcript of a single
 * file. A rejected file does not stop the others. A repeated run resumes where it was interrupted.
 */
export async function uploadFiles(files: readonly string[], options: UploadOptions): Promise<void> {
  const client = openClient(options.url, options.key);
  const rows = await Promise.all(limited(options.parallel, files, (file) => uploadFile(client, file, options)));
  for (const row of options.wait ? rows : []) {
    if (!row.id) continue;
    const found = await finished(client, row.id);
    row.status = found.error_code ? `${found.status}: ${found.error_code}` : found.status;
    if (options.json) process.stdout.write(`${JSON.stringify({ file: row.file, ...found })}\n`);
    else if (rows.length === 1) process.stdout.write(`${plain(found)}\n`);
  }
  if (!options.wait && options.json) for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
  if (!options.json && (rows.length > 1 || !options.wait)) print(rows, false);
  if (rows.some((row) => !['queued', 'completed'].includes(row.status))) process.exitCode = 1;
}

async function uploadFile(client: Client, file: string, options: UploadOptions): Promise<Row> {
  const bar = options.parallel > 1 ? NO_BAR : openBar(path.basename(file));
  try {
    const { uuid, status } = await client.upload<Uploaded>(file, query(options), headers(options), bar.to);
    return { file, id: uuid, status };
  } catch (error) {
    const reason = sentence(error);
    process.stderr.write(`${file}: ${reason}\n`);
    return { file, id: null, status: reason };
  } finally {
    bar.close();
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

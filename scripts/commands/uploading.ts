import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXTENSIONS } from '../../api/contract/formats.ts';
import { TERMINAL, type Transcription, type Uploaded } from '../../api/contract/transcription.ts';
import { openClient } from './client.ts';
import { openBar } from './progress.ts';
import type { UploadOptions } from './upload.ts';

const POLL_MS = 5000;

/** The files named, and in folders every file with an extension that the service takes. */
export async function findRecordings(names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) {
    if (!(await stat(name)).isDirectory()) {
      found.push(name);
      continue;
    }
    const entries = await readdir(name, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && EXTENSIONS.has(path.extname(entry.name).slice(1).toLowerCase()));
    found.push(...files.map((entry) => path.join(entry.parentPath, entry.name)).sort());
  }
  if (!found.length) throw new Error(`There is nothing to upload in ${names.join(', ')}`);
  return found;
}

/** Uploads files one after another and prints the answers, or with `wait` the transcripts. One that is refused does not stop the others. */
export async function uploadFiles(files: readonly string[], options: UploadOptions): Promise<void> {
  const client = openClient(options.url, options.key);
  for (const file of files) {
    const bar = openBar(path.basename(file));
    try {
      const accepted = await client.upload<Uploaded>(file, query(options), headers(options), bar.to);
      bar.close();
      const result = options.wait ? await finished(client, accepted.uuid) : accepted;
      process.stdout.write(`${options.json ? JSON.stringify({ file, ...result }) : plain(file, result)}\n`);
      if ('error_code' in result && result.status !== 'completed') process.exitCode = 1;
    } catch (error) {
      process.stderr.write(`${file}: ${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    } finally {
      bar.close();
    }
  }
}

async function finished(client: ReturnType<typeof openClient>, id: string): Promise<Transcription> {
  for (;;) {
    const record = await client.get<Transcription>(`transcriptions/${id}`);
    const reporting = record.prompt_results.some((report) => report.status === 'queued' || report.status === 'processing');
    if (TERMINAL.has(record.status) && !reporting) return record;
    await sleep(POLL_MS);
  }
}

function plain(file: string, result: Uploaded | Transcription): string {
  if ('uuid' in result) return `${result.uuid}  ${file}`;
  const heading = `==> ${file} <==`;
  if (result.status !== 'completed') return `${heading}\n${result.status}${result.error_code ? `: ${result.error_code}` : ''}`;
  const reports = result.prompt_results.map((report) => `\n## ${report.name}\n${report.text ?? report.error_code}`);
  return [heading, result.text, ...reports].join('\n');
}

function query({ reports, language }: UploadOptions): URLSearchParams {
  return new URLSearchParams(Object.entries({ reports, language }).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function headers({ externalId, metadata, author }: UploadOptions): Record<string, string> {
  const given = { 'X-External-Id': externalId, 'X-Metadata': metadata && ascii(metadata), 'X-Author': author };
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** JSON of the same meaning in ASCII: a header holds nothing else safely. */
function ascii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

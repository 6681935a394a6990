import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { isFull } from '../../models/choosing/space.ts';

/** A wheel on the Python package index. */
export interface Wheel {
  filename: string;
  url: string;
  size: number;
  sha256: string;
}

interface Listing {
  files: { filename: string; url: string; size: number; yanked?: boolean | string; hashes: { sha256?: string } }[];
}

const INDEX = 'https://pypi.org/simple';
const OFFLINE = 'download the wheels elsewhere with pip, copy them to this machine and use "longhand gpu install --from FOLDER"';
const LINUX = process.arch === 'arm64' ? 'aarch64' : 'x86_64';

/** The newest wheel of a project for this CPU whose version satisfies `fits`. Throws if there is none or the index cannot be reached. */
export async function findWheel(project: string, fits: (version: string) => boolean, index = INDEX): Promise<Wheel> {
  const accept = 'application/vnd.pypi.simple.v1+json';
  const page = `${index.replace(/\/+$/, '')}/${project}/`;
  const answer = await fetch(page, { headers: { accept } }).catch((cause) => {
    throw new Error(`Cannot reach ${index}: is this machine online? If not, ${OFFLINE}`, { cause });
  });
  if (!answer.ok) throw new Error(`Cannot get ${project} from ${index}: it responded with ${answer.status}`);
  const listing = (await answer.json().catch(() => null)) as Listing | null;
  if (!Array.isArray(listing?.files))
    throw new Error(`Cannot use ${index}: it did not answer in the JSON of package indexes (PEP 691); ${OFFLINE}`);
  const fitting = listing.files
    .filter(({ filename, yanked }) => !yanked && filename.endsWith('.whl') && filename.includes('linux') && filename.includes(LINUX))
    .filter(({ filename }) => fits(versionOf(filename)))
    .sort((a, b) => compare(versionOf(a.filename), versionOf(b.filename)));
  const newest = fitting.at(-1);
  if (!newest?.hashes.sha256) throw new Error(`Cannot get ${project}: ${index} has no wheel of the required version for linux ${LINUX}`);
  const { filename, url, size, hashes } = newest;
  return { filename, url: new URL(url, page).href, size, sha256: hashes.sha256! };
}

/** Downloads a wheel and verifies its checksum. Returns its path. */
export async function download(wheel: Wheel, folder: string, onBytes: (bytes: number) => void): Promise<string> {
  const to = path.join(folder, wheel.filename);
  const { host } = new URL(wheel.url);
  const failed = (cause: Error) => {
    if (isFull(cause)) throw cause;
    const { message } = (cause.cause ?? cause) as Error;
    throw new Error(`Cannot download ${wheel.filename} from ${host} (${message}): try again, or ${OFFLINE}`, { cause });
  };
  const answer = await fetch(wheel.url).catch(failed);
  if (!answer.ok || !answer.body) throw new Error(`Cannot download ${wheel.filename}: ${host} responded with ${answer.status}`);
  const hash = createHash('sha256');
  const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      onBytes(chunk.length);
      yield chunk;
    }
  };
  await pipeline(Readable.fromWeb(answer.body as never), counted, createWriteStream(to)).catch(failed);
  if (hash.digest('hex') !== wheel.sha256)
    throw new Error(`Cannot use ${wheel.filename}: its checksum differs from that in the index; try again`);
  return to;
}

const LIBRARY = /\.so(\.\d+)*$/;

/** Extracts the shared libraries of a wheel into a flat folder, and returns the projects required by its extras `cuda` and `cudnn`. */
export async function unpack(wheel: string, folder: string, wanted: (name: string) => boolean): Promise<string[]> {
  const zip = await promisify<string, yauzl.Options, ZipFile>(yauzl.open)(wheel, { lazyEntries: true });
  let requirements: string[] = [];
  return new Promise((resolve, reject) => {
    zip.on('error', reject);
    zip.on('end', () => resolve(requirements));
    zip.on('entry', (entry: Entry) => {
      const name = path.posix.basename(entry.fileName);
      const metadata = entry.fileName.endsWith('.dist-info/METADATA');
      if (!metadata && !(LIBRARY.test(name) && wanted(name))) return zip.readEntry();
      zip.openReadStream(entry, (error, stream) => {
        if (error) return reject(error);
        const done = metadata
          ? stream.toArray().then((chunks) => {
              requirements = requirementsOf(Buffer.concat(chunks).toString());
            })
          : pipeline(stream, createWriteStream(path.join(folder, name), { mode: 0o755 }));
        done.then(() => zip.readEntry(), reject);
      });
    });
    zip.readEntry();
  });
}

/** The `nvidia-cufft~=12.0` of each line `Requires-Dist: nvidia-cufft~=12.0; extra == "cuda"` in a wheel's METADATA. */
export function requirementsOf(metadata: string): string[] {
  const lines = metadata
    .split('\n')
    .map((line) => /^Requires-Dist:\s*(nvidia-[^;\s]+)\s*;\s*extra == "(?:cuda|cudnn)"/.exec(line.trim())?.[1]);
  return lines.filter((line) => line !== undefined);
}

/** Interprets a requirement such as `nvidia-cufft~=12.0`: at least 12.0, and below 13. */
export function fitsRequirement(requirement: string): { project: string; fits: (version: string) => boolean } {
  const [, project = requirement, operator, wanted = ''] = /^([\w.-]+?)(~=|==|>=)?([\d.]*)$/.exec(requirement) ?? [];
  const parts = wanted.split('.');
  const prefix = operator === '~=' ? parts.slice(0, -1) : operator === '==' ? parts : [];
  const starts = (version: string) => prefix.every((part, i) => version.split('.')[i] === part);
  return { project, fits: (version) => starts(version) && (wanted === '' || compare(version, wanted) >= 0) };
}

function versionOf(filename: string): string {
  return filename.split('-')[1] ?? '';
}

/** Compares versions numerically. */
function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number)) as [number[], number[]];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] || 0) - (right[i] || 0);
    if (difference) return difference;
  }
  return 0;
}

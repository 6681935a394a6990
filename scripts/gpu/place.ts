import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { LIBRARIES, PROVIDERS, RUNTIME_FOLDER } from '../../engine/runtime/gpu.ts';
import { lives } from '../../models/install/claim.ts';

/** The folder of the GPU libraries, and that of onnxruntime's own library, beside which it finds its providers by links. */
export interface Places {
  libraries: string;
  runtime: string;
}

export const PLACES: Places = { libraries: LIBRARIES, runtime: RUNTIME_FOLDER };
const TEMPORARY = /^(download-|install-(\d+)-)/; // of this command, which may have been killed; with the process that writes to it

/**
 * Replaces the installation with the files that `fill` writes into an empty folder. `fill` also gets a folder for downloads. If it rejects, the
 * earlier installation stays as it was.
 */
export async function replace(places: Places, fill: (to: string, downloads: string) => Promise<void>): Promise<void> {
  const { libraries } = places;
  const parent = path.dirname(libraries);
  mkdirSync(parent, { recursive: true });
  removeAbandoned(parent);
  const downloads = mkdtempSync(path.join(parent, `install-${process.pid}-`));
  const [filled, earlier] = [path.join(downloads, 'lib'), path.join(downloads, 'earlier')];
  try {
    mkdirSync(filled);
    await fill(filled, downloads);
    const replaces = existsSync(libraries);
    if (replaces) renameSync(libraries, earlier);
    try {
      renameSync(filled, libraries);
    } catch (error) {
      if (replaces) renameSync(earlier, libraries);
      throw error;
    }
  } finally {
    rmSync(downloads, { recursive: true, force: true });
  }
  link(places);
}

/** Creates the links by which onnxruntime finds the providers. */
function link({ libraries, runtime }: Places): void {
  for (const name of PROVIDERS) {
    const to = path.join(runtime, name);
    rmSync(to, { force: true });
    symlinkSync(path.join(libraries, name), to);
  }
}

/** Undoes an installation. Returns whether there was one. */
export function remove({ libraries, runtime } = PLACES): boolean {
  const there = existsSync(libraries);
  for (const name of PROVIDERS) {
    const to = path.join(runtime, name);
    if (lstatSync(to, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(to); // onnxruntime's own installer creates regular files
  }
  rmSync(path.dirname(libraries), { recursive: true, force: true });
  return there;
}

/** Throws if a folder to install from is a temporary one of an installation: those are removed. */
export function checkSource(from: string, { libraries }: Places): void {
  const parent = path.dirname(libraries);
  const inside = existsSync(parent) ? path.relative(realpathSync(parent), realpathSync(from)) : '..';
  if (TEMPORARY.test(inside))
    throw new Error(`Cannot install from ${from}: it is a temporary folder of "gpu install"; move it elsewhere, and give that to --from`);
}

/** Removes what installations that were killed left behind, perhaps of 1 GB. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [temporary, , pid] = TEMPORARY.exec(name) ?? [];
    if (temporary && !(pid && Number(pid) !== process.pid && lives(Number(pid))))
      rmSync(path.join(parent, name), { recursive: true, force: true });
  }
}

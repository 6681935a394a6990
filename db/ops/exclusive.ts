import { existsSync, linkSync, mkdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';

const GATE_MS = 5000; // normally held for a few milliseconds
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Gives a finished draft its name, atomically, so that nobody reads a partial file. File systems without hard links (exFAT, SMB, some network
 * mounts) get a rename behind a gate instead. False: the file exists, or another process is at the gate.
 */
export function placeNew(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (!NO_LINKS.has(code)) throw error;
  }
  const placed = throughGate(file, () => {
    if (existsSync(file)) return false;
    renameSync(draft, file);
    return true;
  });
  return placed ?? false;
}

/** Does `work` on a file, if no other process is at its gate. Null: one is. */
export function throughGate<T>(file: string, work: () => T): T | null {
  const gate = `${file}.gate`;
  try {
    mkdirSync(gate);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const since = statSync(gate, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Math.abs(Date.now() - since) > GATE_MS) rmSync(gate, { recursive: true, force: true }); // its creator was killed
    return null;
  }
  try {
    return work();
  } finally {
    rmdirSync(gate);
  }
}

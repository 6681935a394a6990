import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = new Set<string>(); // of this run
const RETRIES = 10; // while PostgreSQL, which was told to stop, still writes

/**
 * A new folder for this run, which removes it at its end. A signal removes it, too, after the listeners of `exit`: those end the programs that were
 * started, such as the embedded PostgreSQL, which has a process group of its own and would outlive this one.
 */
export function scratchFolder(name: string): string {
  if (!folders.size) for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
  const folder = mkdtempSync(join(tmpdir(), `longhand-${name}-`));
  folders.add(folder);
  return folder;
}

/** Ends as the signal does by default: a normal exit stops threads, and would crash inside onnxruntime. */
function end(signal: NodeJS.Signals): never {
  process.once('exit', () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: RETRIES });
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
  process.exit(1);
}

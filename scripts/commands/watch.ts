import { execFile } from 'node:child_process';
import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import { ROOT } from './environment.ts';

const SETTLE_MS = 200; // editors write a file in several steps
const SOURCE = /\.(ts|tsx|mjs|css|html|svg|md|json)$/;

export type Changed = 'api' | 'engine' | 'console';

/** The parts of the product that a source file (relative to the checkout) belongs to. Empty: nothing has to be restarted. */
export function partsOf(file: string): Changed[] {
  const name = file.split(path.sep).join('/');
  if (!SOURCE.test(name) || name.includes('/dist/')) return [];
  if (name.startsWith('api/console/app/')) return ['console'];
  if (/^(db|api\/contract)\//.test(name)) return ['api', 'engine'];
  if (/^(api|docs)\//.test(name)) return ['api'];
  if (/^(engine|models)\//.test(name)) return ['engine'];
  return [];
}

/** Watches the sources and reports changes, once per burst of writes. Call the result to stop. */
export function watchSources(onChange: (changed: ReadonlySet<Changed>) => void): () => void {
  let pending = new Set<Changed>();
  let timer: NodeJS.Timeout | undefined;
  const report = () => {
    const changed = pending;
    pending = new Set();
    onChange(changed);
  };
  const watchers: FSWatcher[] = ['api', 'db', 'engine', 'models', 'docs'].map((folder) =>
    watch(path.join(ROOT, folder), { recursive: true }, (_event, name) => {
      const parts = name ? partsOf(path.join(folder, name)) : [];
      if (!parts.length) return;
      for (const part of parts) pending.add(part);
      clearTimeout(timer);
      timer = setTimeout(report, SETTLE_MS);
    }),
  );
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}

/** Builds the console's page; resolves with the compiler's message if that fails, else null. */
export function buildConsole(): Promise<string | null> {
  const vite = path.join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--config', path.join(ROOT, 'api/console/app/vite.config.ts'), '--logLevel', 'error'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT }, (error, _stdout, stderr) => resolve(error ? stderr || error.message : null));
  });
}

import type { Command } from 'commander';
import { loadSettings } from './environment.ts';
import { port } from './parsers.ts';

/** `up`: everything in one process tree. */
export function addUp(program: Command): void {
  program
    .command('up')
    .description('run everything: embedded PostgreSQL unless DATABASE_URL is set, migrations, API, engine, courier')
    .option('--host <address>', 'address to listen on (HOST)')
    .option('--port <number>', 'port to listen on; 0 picks a free one (PORT)', port)
    .option('--watch', 'for development: restart API, engine and courier, and rebuild the console, when their sources change')
    .option('--json', 'print URL and first key as one line of JSON')
    .action(async ({ host, port: number, json, watch }: { host?: string; port?: string; json?: boolean; watch?: boolean }) => {
      const settings = loadSettings({ HOST: host, PORT: number });
      const { serve } = await import('./serve.ts');
      await serve(settings, { json: json ?? false, watch: watch ?? false });
    });
}

import type { Command } from 'commander';
import { loadSettings } from './environment.ts';
import { port } from './numbers.ts';

/** `up`: everything in one process tree. */
export function addUp(program: Command): void {
  program
    .command('up')
    .description('run everything: embedded PostgreSQL unless DATABASE_URL is set, migrations, API, engine')
    .option('--host <address>', 'where to listen (HOST)')
    .option('--port <number>', 'where to listen; 0 picks a free one (PORT)', port)
    .option('--json', 'print what the start tells as one line of JSON')
    .action(async ({ host, port: number, json }: { host?: string; port?: string; json?: boolean }) => {
      const settings = loadSettings({ HOST: host, PORT: number });
      const { serve } = await import('./serve.ts');
      await serve(settings, json ?? false);
    });
}

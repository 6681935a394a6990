import { getPriority, setPriority } from 'node:os';
import type { Command } from 'commander';
import { loadSettings } from './environment.ts';
import { port, positive } from './parsers.ts';
import { print } from './output.ts';

const ENGINE_PRIORITY = 5; // nice value

/** `api`, `engine`, `courier`, `migrate`: single parts, for several hosts. */
export function addParts(program: Command): void {
  program
    .command('api')
    .description('serve HTTP; needs DATABASE_URL, or `up` running on the same state folder')
    .option('--host <address>', 'address to listen on (HOST)')
    .option('--port <number>', 'port to listen on; 0 picks a free one (PORT)', port)
    .action(async ({ host, port: number }: { host?: string; port?: string }) => {
      await useDatabase({ HOST: host, PORT: number });
      endWithParent();
      await import('../../api/main.ts');
    });
  program
    .command('engine')
    .description('run jobs; needs DATABASE_URL, or `up` running on the same state folder')
    .option('--concurrency <files>', 'files transcribed at once', positive) // engine/main.ts reads it
    .action(async () => {
      await useDatabase({});
      endWithParent();
      yieldToOthers();
      await import('../../engine/main.ts');
    });
  program
    .command('courier')
    .description('deliver webhooks, and write reports, titles and summaries; needs DATABASE_URL, or `up` running on the same state folder')
    .action(async () => {
      await useDatabase({});
      endWithParent();
      await import('../../engine/courier/main.ts');
    });
  program
    .command('migrate')
    .description('run database migrations')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const [{ withDatabase }, { migrate }] = await Promise.all([import('./database.ts'), import('../../db/postgres/migrate.ts')]);
      const applied = await withDatabase(loadSettings(), migrate);
      print({ applied }, json);
    });
}

/** Sets DATABASE_URL for the part to be started. */
async function useDatabase(given: Record<string, string | undefined>): Promise<void> {
  const settings = loadSettings(given);
  const { databaseUrl } = await import('./database.ts');
  const url = databaseUrl(settings);
  if (!url) throw new Error('There is no database: set DATABASE_URL, or run scripts/longhand up on the same state folder.');
  process.env.DATABASE_URL = url;
}

/**
 * Lowers the priority of the engine, which uses every core, below the API and PostgreSQL, because people wait for those. Threads and
 * programs started later inherit it.
 */
function yieldToOthers(): void {
  setPriority(Math.max(getPriority(), ENGINE_PRIORITY));
}

/** Stops a part started by `up` cleanly if `up` was killed, even during startup. The listener does not keep the process alive. */
function endWithParent(): void {
  if (!process.send) return;
  const end = () => process.kill(process.pid, 'SIGTERM');
  if (!process.connected) return void end(); // the event would not be emitted again
  process.once('disconnect', end);
  process.channel?.unref();
}

import type { Command } from 'commander';
import { print } from './output.ts';

/** `doctor`: checks the installation and reports how to fix problems. */
export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check versions, memory, ffmpeg, models, device, database, spool and clock; print every setting and where it came from')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { examine } = await import('./checks.ts');
      const { checks, settings } = await examine();
      const ok = checks.every((check) => check.ok);
      if (json) print({ ok, checks, settings }, true);
      else {
        const rows = checks.map((check) => ({
          check: check.name,
          state: check.ok ? 'ok' : 'WRONG',
          found: check.found,
          'what to do': check.remedy,
        }));
        print(rows, false);
        process.stdout.write('\n');
        print(settings, false);
      }
      if (!ok) process.exitCode = 1;
    });
}

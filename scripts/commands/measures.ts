import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { loadSettings } from './environment.ts';

/** The measurements by name; files are relative to bench/. */
export const MEASURES = {
  load: { file: 'load/load.ts', description: 'read throughput, and memory during large uploads' },
  busy: { file: 'load/busy.ts', description: 'response times for pollers and slow uploads under load' },
  long: {
    file: 'speed/long.ts',
    description: 'a ten-hour recording: time, memory, order of results, and latency of short notes meanwhile',
  },
  soak: { file: 'load/soak.ts', description: 'hours of mixed load, and the memory trend' },
  list: { file: 'load/list.ts', description: 'lists of many transcriptions' },
  scale: { file: 'scale/scale.ts', description: 'cost of the database with up to ten million transcriptions' },
  fuzz: { file: 'load/fuzz.ts', description: 'run Schemathesis against the API description (requires python3)' },
};

/** `bench load` and others: programs in bench/ with their own options, documented in the comment at their top. */
export function addMeasures(program: Command): void {
  const bench = program.commands.find((command) => command.name() === 'bench')!;
  for (const command of [program, bench]) command.enablePositionalOptions(); // else `bench` would parse the program's options
  for (const [name, { file, description }] of Object.entries(MEASURES)) {
    bench
      .command(name)
      .description(`${description}; see bench/${file}`)
      .argument('[options...]')
      .allowUnknownOption()
      .passThroughOptions()
      .action(async (options: string[]) => {
        loadSettings();
        process.exitCode = await run(file, options);
      });
  }
}

function run(name: string, options: string[]): Promise<number> {
  const file = fileURLToPath(new URL(`../../bench/${name}`, import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, '--import', import.meta.resolve('tsx'), file, ...options], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

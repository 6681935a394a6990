import { execute } from '../../scripts/commands/execute.ts';
import { environment, type Finished } from './processes.ts';

/**
 * What `longhand ARGS` prints and ends with, run in this process: starting one takes three seconds of a processor. For commands that start nothing;
 * one at a time.
 */
export async function longhandHere(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  const kept = { env: { ...process.env }, exitCode: process.exitCode, out: process.stdout.write, err: process.stderr.write };
  const said = { stdout: '', stderr: '' };
  const listen = (to: keyof typeof said) => (text: string | Uint8Array) => {
    said[to] += String(text);
    return true;
  };
  replaceEnvironment({ ...environment(env), ORT_DISABLE_TELEMETRY: '1' }); // as scripts/longhand sets it
  process.exitCode = 0;
  process.stdout.write = listen('stdout');
  process.stderr.write = listen('stderr');
  try {
    const status = await execute(args);
    return { code: status ?? Number(process.exitCode ?? 0), ...said };
  } finally {
    process.stdout.write = kept.out;
    process.stderr.write = kept.err;
    process.exitCode = kept.exitCode;
    replaceEnvironment(kept.env);
  }
}

/** In place: the programs of this process read the very object. */
function replaceEnvironment(wanted: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in wanted)) delete process.env[name];
  Object.assign(process.env, wanted);
}

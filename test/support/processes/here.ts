import { execute } from '../../../scripts/commands/execute.ts';
import { environment, type Finished } from './processes.ts';

/**
 * Runs `longhand ARGS` in this process and returns its output and exit code: starting a process takes 3 s of CPU time. Only for commands that start
 * no processes, and one at a time.
 */
export async function longhandHere(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  const kept = { env: { ...process.env }, exitCode: process.exitCode, out: process.stdout.write, err: process.stderr.write };
  const output = { stdout: '', stderr: '' };
  const listen = (to: keyof typeof output) => (text: string | Uint8Array) => {
    output[to] += String(text);
    return true;
  };
  replaceEnvironment({ ...environment(env), ORT_DISABLE_TELEMETRY: '1' }); // as scripts/longhand sets it
  process.exitCode = 0;
  process.stdout.write = listen('stdout');
  process.stderr.write = listen('stderr');
  try {
    const status = await execute(args);
    return { code: status ?? Number(process.exitCode ?? 0), ...output };
  } finally {
    process.stdout.write = kept.out;
    process.stderr.write = kept.err;
    process.exitCode = kept.exitCode;
    replaceEnvironment(kept.env);
  }
}

/** Changes the object in place, because programs in this process have a reference to it. */
function replaceEnvironment(wanted: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in wanted)) delete process.env[name];
  Object.assign(process.env, wanted);
}

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

export const NOBODY_UID = 65_534;
const MAX_ADDRESS_SPACE_BYTES = 3 * 2 ** 30; // decoding takes 60 MB resident
const CPU_GRACE_SECONDS = 5; // of CPU time between SIGXCPU, which shows the reason, and SIGKILL
const MAX_PROCESSES = 512; // for all media programs together, threads included; only if no other programs run as that user

/**
 * The command prefix that sandboxes a media program: no network, an unprivileged user if we are root, no gain from set-user-id programs, no
 * written files, and limits on CPU time, memory and descriptors. What the system lacks is left out.
 * @param seconds of CPU time
 * @param asNobody whether `nobody` can read the input file; matters to root only
 */
export async function fences(seconds: number, asNobody: boolean): Promise<string[]> {
  const root = process.getuid?.() === 0;
  const fences: string[] = await networkless(root);
  if (existsSync('/usr/bin/setpriv')) {
    fences.push('/usr/bin/setpriv', '--no-new-privs');
    if (asNobody) fences.push(`--reuid=${NOBODY_UID}`, `--regid=${NOBODY_UID}`, '--clear-groups');
    if (root) fences.push('--bounding-set=-all', '--inh-caps=-all');
    fences.push('--');
  }
  if (existsSync('/usr/bin/prlimit')) {
    fences.push(
      '/usr/bin/prlimit',
      `--as=${MAX_ADDRESS_SPACE_BYTES}`,
      `--cpu=${Math.ceil(seconds)}:${Math.ceil(seconds) + CPU_GRACE_SECONDS}`,
      '--nofile=64',
      '--fsize=0',
      '--core=0',
    );
    if (asNobody) fences.push(`--nproc=${MAX_PROCESSES}`);
    fences.push('--');
  }
  return fences;
}

const PATIENCE_MS = 60_000; // an overloaded machine must not be mistaken for one without support
let unshare: Promise<string[]> | undefined;

/** A network namespace, if the host allows it. Tried once per process. */
function networkless(root: boolean): Promise<string[]> {
  const fence = ['/usr/bin/unshare', ...(root ? ['--net'] : ['--user', '--net']), '--'];
  unshare ??= promisify(execFile)(fence[0]!, [...fence.slice(1), '/bin/true'], { env: {}, timeout: PATIENCE_MS }).then(
    () => fence,
    () => [],
  );
  return unshare.then((found) => [...found]);
}

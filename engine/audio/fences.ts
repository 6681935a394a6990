import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

export const NOBODY = 65_534;
const MEMORY = 3 * 2 ** 30; // bytes of address space; decoding takes 60 MB resident
const GRACE = 5; // seconds of processor time between SIGXCPU, which tells why, and SIGKILL
const PROCESSES = 512; // of all media programs together, threads included: only where the user is theirs alone

/**
 * The programs put before a media program to confine it: without a network, under a user without rights when we are root, with nothing to gain
 * by set-user-id programs, no files to write, and limits on processor time, memory and descriptors. What the system lacks is left out.
 * @param seconds of processor time
 * @param asNobody the file it has to read can be read by `nobody`; matters to root only
 */
export async function fences(seconds: number, asNobody: boolean): Promise<string[]> {
  const root = process.getuid?.() === 0;
  const fences: string[] = await networkless(root);
  if (existsSync('/usr/bin/setpriv')) {
    fences.push('/usr/bin/setpriv', '--no-new-privs');
    if (asNobody) fences.push(`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups');
    if (root) fences.push('--bounding-set=-all', '--inh-caps=-all');
    fences.push('--');
  }
  if (existsSync('/usr/bin/prlimit')) {
    fences.push(
      '/usr/bin/prlimit',
      `--as=${MEMORY}`,
      `--cpu=${Math.ceil(seconds)}:${Math.ceil(seconds) + GRACE}`,
      '--nofile=64',
      '--fsize=0',
      '--core=0',
    );
    if (asNobody) fences.push(`--nproc=${PROCESSES}`);
    fences.push('--');
  }
  return fences;
}

const PATIENCE_MS = 60_000; // a busy machine must not pass for one that cannot
let unshare: Promise<string[]> | undefined;

/** A network namespace of its own, where the host lets us make one. Tried once per process. */
function networkless(root: boolean): Promise<string[]> {
  const fence = ['/usr/bin/unshare', ...(root ? ['--net'] : ['--user', '--net']), '--'];
  unshare ??= promisify(execFile)(fence[0]!, [...fence.slice(1), '/bin/true'], { env: {}, timeout: PATIENCE_MS }).then(
    () => fence,
    () => [],
  );
  return unshare.then((found) => [...found]);
}

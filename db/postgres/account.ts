import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';

/** The system account that runs the embedded PostgreSQL. */
export interface Account {
  uid: number;
  gid: number;
}

/** PostgreSQL refuses to run as root, so the system account `postgres` runs it then. Null: run it under the caller's own account. */
export function serverAccount(): Account | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    try {
      execFileSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'], {
        stdio: 'pipe',
      });
      return { uid: id('-u'), gid: id('-g') };
    } catch (error) {
      throw new Error(
        'Cannot start the embedded PostgreSQL as root: creating the account `postgres` failed. Run as an ordinary user, or set DATABASE_URL.',
        {
          cause: error,
        },
      );
    }
  }
}

/**
 * Wraps the command to run as `account`. If that account cannot traverse a parent folder, such as /root, it keeps the one capability for
 * that.
 */
export function confined(account: Account | null, needs: string[], file: string, args: string[]): [string, string[], Partial<Account>] {
  if (!account) return [file, args, {}];
  if (needs.every((target) => reachable(path.dirname(target), account))) return [file, args, account];
  const capabilities = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup']; // access(2) honours it too
  return ['setpriv', [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups', ...capabilities, file, ...args], {}];
}

function reachable(folder: string, { uid, gid }: Account): boolean {
  const { mode, uid: owner, gid: group } = statSync(folder);
  const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
  return (mode & bit) !== 0 && (folder === path.dirname(folder) || reachable(path.dirname(folder), { uid, gid }));
}

/**
 * Gives the data to the account: after a restore on another machine they belong to the id that it had there, and PostgreSQL refuses them.
 * Only in a folder that root created, not in one of a service that runs under an account of its own.
 */
export function adopt(folder: string, data: string, { uid, gid }: Account): void {
  if (statSync(folder).uid === 0 && statSync(data).uid !== uid) execFileSync('chown', ['-hR', `${uid}:${gid}`, data]);
}

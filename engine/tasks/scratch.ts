import { randomUUID } from 'node:crypto';
import { chmod, chown, mkdir, readdir, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { LEASE } from '../../api/contract/limits.ts';

/** Where an engine keeps decrypted recordings while it works on them. */
export interface Scratch {
  /** For decoded samples and other large files. */
  readonly folder: string;
  /** A path for a decrypted copy of `bytes`: in memory (tmpfs) if small, else on disk. */
  place(bytes: number): Promise<string>;
  /** Makes the file readable for the sandboxed decoder and no other user. */
  share(path: string): Promise<void>;
  /**
   * Removes folders of engines that have been dead since an earlier call, two heartbeats ago: if the database's clock jumps, all engines look
   * dead until their next heartbeat. `living` returns those of the given engines that have recent heartbeats. Rejects if a
   * folder could not be removed, after removing the others.
   */
  clean(living: (ids: readonly string[]) => Promise<ReadonlySet<string>>): Promise<number>;
  close(): Promise<void>;
}

const MEMORY = '/dev/shm';
const SMALL = 256 * 1_048_576; // bytes
const ROOM = 4; // required free space in tmpfs, as a multiple of the file's size
const SUSPICION_MS = 2000 * LEASE.heartbeatSeconds;
const NOBODY_UID = 65_534; // user id of the decoder if this process runs as root

/**
 * Creates the private folders of an engine: one on disk ($TMPDIR, else under `home`) and one in tmpfs where available. The names include
 * the installation id, because several installations may share a machine and cannot see each other's engines.
 */
export async function openScratch(
  installation: string,
  engineId: string,
  home: string,
  now: () => number = () => performance.now(),
): Promise<Scratch> {
  const prefix = `longhand-${installation.slice(0, 12)}-`;
  const disk = process.env.TMPDIR ? tmpdir() : join(home, 'scratch');
  const bases = [disk, ...((await writable(MEMORY)) ? [MEMORY] : [])];
  const own = (base: string) => join(base, `${prefix}${engineId}`);
  const asRoot = process.getuid?.() === 0;
  const suspected = new Map<string, number>(); // engines that looked dead, since when
  const shared = new Map<string, boolean>(); // folders whose files the decoder can reach under its own user
  const make = async () => {
    for (const base of bases) {
      await mkdir(own(base), { recursive: true, mode: 0o700 });
      shared.set(own(base), asRoot && (await passable(base)));
      if (shared.get(own(base))) await chmod(own(base), 0o711); // names inside can be neither guessed nor listed
    }
  };
  await make();
  return {
    folder: own(disk),
    async place(bytes) {
      await make(); // another engine removes them if it takes this one for dead
      const folder = bases.includes(MEMORY) && bytes <= SMALL && (await free(MEMORY)) > ROOM * bytes ? own(MEMORY) : own(disk);
      return join(folder, randomUUID());
    },
    async share(path) {
      if (shared.get(dirname(path))) await chown(path, NOBODY_UID, NOBODY_UID);
    },
    async clean(living) {
      const others: { path: string; id: string }[] = [];
      for (const base of bases)
        for (const name of await readdir(base))
          if (name.startsWith(prefix) && name !== `${prefix}${engineId}`)
            others.push({ path: join(base, name), id: name.slice(prefix.length) });
      const ids = [...new Set(others.map(({ id }) => id))];
      const alive = ids.length ? await living(ids) : new Set();
      const lifeless = ids.filter((id) => !alive.has(id));
      for (const id of suspected.keys()) if (!lifeless.includes(id)) suspected.delete(id);
      for (const id of lifeless) if (!suspected.has(id)) suspected.set(id, now());
      const dead = others.filter(({ id }) => now() - (suspected.get(id) ?? now()) >= SUSPICION_MS);
      const failures: unknown[] = []; // a folder of another user, who ran an engine here before, must not keep back the others
      for (const { path } of dead) await rm(path, { recursive: true, force: true }).catch((error) => failures.push(error));
      if (failures.length) throw failures[0];
      return dead.length;
    },
    async close() {
      for (const base of bases) await rm(own(base), { recursive: true, force: true });
    },
  };
}

async function writable(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => null);
  return found?.isDirectory() === true && (found.mode & 0o002) !== 0;
}

async function free(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Whether every user may traverse the folder and its parents. */
async function passable(folder: string): Promise<boolean> {
  if (((await stat(folder)).mode & 0o001) === 0) return false;
  return folder === dirname(folder) || passable(dirname(folder));
}

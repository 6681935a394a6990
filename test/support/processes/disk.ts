import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A separate file system that a test can fill. */
export interface Disk {
  path: string;
  freeBytes(): number;
  /** Fills it up to this many free bytes. */
  fill(leaveBytes: number): void;
  /** Frees the space again. */
  empty(): void;
}

const PIECE = Buffer.alloc(65_536, 1);

/** The reason why no disk can be mounted here; null if one can. */
export function noDisks(): string | null {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'needs permission to mount a file system: run as root, outside a container that forbids it';
  }
}

/** Mounts an empty file system of `bytes`, until teardown. */
export function smallDisk(t: { teardown(after: () => unknown): void }, bytes: number): Disk {
  const path = mkdtempSync(join(tmpdir(), 'longhand-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=755`, 'longhand-test', path]);
  t.teardown(() => {
    execFileSync('umount', ['--lazy', path]); // even while a program there is still exiting
    rmSync(path, { recursive: true, force: true });
  });
  const filler = join(path, 'filler');
  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  };
  return {
    path,
    freeBytes,
    fill(leaveBytes) {
      const file = openSync(filler, 'a', 0o600);
      try {
        for (let room = freeBytes() - leaveBytes; room > 0; room = freeBytes() - leaveBytes)
          writeSync(file, PIECE, 0, Math.min(room, PIECE.length));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(file);
      }
    },
    empty: () => rmSync(filler, { force: true }),
  };
}

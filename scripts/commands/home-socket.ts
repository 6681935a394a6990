import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';

/** A socket in the state folder: while somebody listens there, the process that holds the folder exists. */
export interface Contact {
  /** Name in the folder, never used again. */
  name: string;
  /** Kernel and mounted file system in which it can be reached; in others nobody seems to listen. */
  within: string;
}

const LONGEST_PATH = 100; // bytes, of 107 that fit into an address: longer ones are cut off
const ANSWER_MS = 2000;

/**
 * Listens until `close`, or until the kernel ends this process, also one that is suspended. Null: the folder cannot hold sockets, as on some network
 * mounts, or the kernel has no id.
 */
export async function listenIn(folder: string): Promise<{ contact: Contact; close(): void } | null> {
  const contact = { name: `running.${randomUUID().slice(0, 8)}.sock`, within: placeOf(folder) };
  const address = addressOf(folder, contact);
  if (!contact.within || !address) return null;
  const server = createServer((connection) => connection.destroy()).unref();
  const listening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(address, () => resolve(true));
  });
  return listening ? { contact, close: () => void server.close() } : null;
}

/** Whether somebody listens there. Null: that cannot be told from here. */
export function isListening(folder: string, contact: Contact): Promise<boolean | null> {
  const { within } = contact;
  const address = addressOf(folder, contact);
  if (!address || !within || within !== placeOf(folder)) return Promise.resolve(null);
  return new Promise((resolve) => {
    const connection = connect(address);
    const end = (answer: boolean | null) => {
      connection.destroy();
      resolve(answer);
    };
    connection.setTimeout(ANSWER_MS, () => end(null));
    connection.once('connect', () => end(true));
    connection.once('error', ({ code }: NodeJS.ErrnoException) => end(code === 'ECONNREFUSED' ? false : null));
  });
}

/** Removes what a process that was killed has left. */
export function removeContact(folder: string, { name }: Contact): void {
  rmSync(path.join(folder, path.basename(name)), { force: true });
}

/** Null: too long. A path that is cut off may name something else, which refuses connections. */
function addressOf(folder: string, { name }: Contact): string | null {
  const address = path.join(folder, path.basename(name));
  return Buffer.byteLength(address) > LONGEST_PATH ? null : address;
}

/** Empty: unknown. The device number distinguishes two mounts of one network share, which do not see each other's sockets. */
function placeOf(folder: string): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${statSync(folder).dev}`;
  } catch {
    return '';
  }
}

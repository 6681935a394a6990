import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/postgres/orm.ts';
import type { Vault } from '../../db/secrets/vault.ts';
import type { Item } from '../../db/transcripts/list-row.ts';
import { type FullRecord, loadRecord, readVersions, type VersionQuestion } from '../../db/transcripts/record.ts';
import type { Actor } from '../contract/actor.ts';
import type { Status } from '../contract/transcription.ts';

/** A full record, ready to send. */
export interface Served {
  /** JSON in UTF-8. */
  body: Buffer;
  /** Strong, quoted. */
  etag: string;
  title: string | null;
  status: Status;
}

/** Serves full records. Visibility and version are queried from the database on every request; only the text is cached. */
export interface Records {
  /** The record, or null if this actor cannot see one with this id. `words` adds word timestamps. */
  find(actor: Actor, id: string, words: boolean): Promise<Served | null>;
  /** Removes a deleted record from the cache. */
  forget(workspaceId: string, id: string): void;
}

const CACHE_BYTES = 64 * 1024 * 1024;
const LARGEST_SHARE = 8; // records larger than CACHE_BYTES / LARGEST_SHARE are not cached
const ASKED_AT_ONCE = 500;

interface Entry extends Served {
  version: string;
}

/** Opens the records of a database. Caches at most `cacheBytes` of decrypted text, in memory only, LRU. */
export function openRecords(db: Db, vault: Vault, cacheBytes = CACHE_BYTES): Records {
  const ask = askTogether(db);
  const entries = new LRUCache<string, Entry>({
    maxSize: cacheBytes,
    maxEntrySize: Math.floor(cacheBytes / LARGEST_SHARE),
    sizeCalculation: ({ body }) => body.length,
  });
  const loading = new Map<string, Promise<Entry | null>>();

  async function load(actor: Actor, id: string, words: boolean, key: string): Promise<Entry | null> {
    const loaded = await db.workspace(actor.workspaceId, (tx) => loadRecord(tx, vault, actor, id, words));
    if (!loaded) return null;
    const body = Buffer.from(serialise(loaded.record));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
    const entry = { body, etag, title: loaded.record.title, status: loaded.record.status, version: loaded.version };
    entries.set(key, entry);
    return entry;
  }

  return {
    async find(actor, id, words) {
      const key = keyOf(actor.workspaceId, id, words);
      const version = await ask({ actor, id });
      if (version === null) return null;
      const known = entries.get(key);
      if (known?.version === version) return known;
      const run = `${key}/${actor.memberId}/${version}`;
      const running = loading.get(run) ?? load(actor, id, words, key).finally(() => loading.delete(run));
      loading.set(run, running);
      return running;
    },
    forget(workspaceId, id) {
      for (const words of [false, true]) entries.delete(keyOf(workspaceId, id, words));
    },
  };
}

function keyOf(workspaceId: string, id: string, words: boolean): string {
  return `${workspaceId}/${id.toLowerCase()}/${words}`;
}

interface Waiting extends VersionQuestion {
  resolve(version: string | null): void;
  reject(error: unknown): void;
}

/** Batches queries of one workspace that arrive while another query runs: 1,000 pollers cost a few queries. */
function askTogether(db: Db): (question: VersionQuestion) => Promise<string | null> {
  const queues = new Map<string, Waiting[]>();

  async function drain(workspaceId: string, queue: Waiting[]): Promise<void> {
    while (queue.length) {
      const batch = queue.splice(0, ASKED_AT_ONCE);
      try {
        const versions = await readVersions(db, workspaceId, batch);
        for (const [index, waiting] of batch.entries()) waiting.resolve(versions[index] ?? null);
      } catch (error) {
        for (const waiting of batch) waiting.reject(error);
      }
    }
    queues.delete(workspaceId);
  }

  return (question) =>
    new Promise((resolve, reject) => {
      const { workspaceId } = question.actor;
      const waiting = { ...question, resolve, reject };
      const queue = queues.get(workspaceId);
      if (queue) return void queue.push(waiting);
      const fresh = [waiting];
      queues.set(workspaceId, fresh);
      setImmediate(() => void drain(workspaceId, fresh));
    });
}

/** JSON with the metadata as received. */
export function serialise(record: FullRecord | Item): string {
  if (record.metadata === null) return JSON.stringify(record);
  const fields = Object.entries(record);
  const at = fields.findIndex(([name]) => name === 'metadata');
  const before = JSON.stringify(Object.fromEntries(fields.slice(0, at))).slice(0, -1);
  const after = JSON.stringify(Object.fromEntries(fields.slice(at + 1))).slice(1);
  return `${before},"metadata":${record.metadata},${after}`;
}

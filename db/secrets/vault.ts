import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Db, Tx } from '../postgres/orm.ts';
import { forAll } from '../postgres/wanted.ts';
import { masterKeyId } from './master-key.ts';

/* SQL: keys are created and changed under locks, concurrently by several hosts. */

/**
 * Encrypts sensitive values in the database: AES-256-GCM with a data key per workspace, which is encrypted with the master key. `place` is
 * 'table|row id|column' and authenticated: a value moved to another row, column or workspace cannot be decrypted. An encrypted value is
 * version (1 byte), version of the data key (4, big endian), nonce (12), tag (16), ciphertext.
 */
export interface Vault {
  seal(workspaceId: string, place: string, plain: Uint8Array | string): Promise<Buffer>;
  /** Throws if the value was modified or moved, or its key was destroyed. */
  open(workspaceId: string, place: string, sealed: Uint8Array): Promise<Buffer>;
  /** As `open`, for text; null stays null. */
  text(workspaceId: string, place: string, sealed: Uint8Array | null): Promise<string | null>;
  /**
   * A key for one purpose, derived from the oldest data key of the workspace. `version`: the version of that data key; values made with
   * another version must be created again.
   */
  derive(workspaceId: string, purpose: string): Promise<{ version: number; key: Buffer }>;
  /** Creates the first data key of a new workspace, in the transaction that writes its row. */
  createKey(tx: Tx, workspaceId: string): Promise<void>;
  /** Re-encrypts every data key with the newest master key. Returns how many were changed. */
  rotate(): Promise<number>;
}

const VERSION = 1;
const NONCE = 12;
const TAG = 16;
const HEAD = 5; // version and key version
const KEPT_MS = 60_000; // cache lifetime of a data key: the longest time for which a destroyed key remains in memory
const MOST = 10_000; // workspaces whose keys are cached
const CANARY = 'longhand';
/** Code of errors of a process that lacks the master key of a workspace: it was started before `admin keys rotate`, without the newest. */
export const NO_KEY = 'ENOKEY';

interface Keys {
  byVersion: Map<number, Buffer>;
  newest: number;
}

interface KeyRow {
  workspace_id: string;
  version: number;
  wrapped: Buffer;
  master_key_id: string;
}

/** Opens the vault. `masterKeys` are newest first. Throws if none of them is the one this database was written with. */
export async function openVault(db: Db, masterKeys: readonly Buffer[]): Promise<Vault> {
  const newest = masterKeys[0];
  if (!newest) throw new Error('Cannot open the vault: no master key was given');
  const masters = new Map(masterKeys.map((key) => [masterKeyId(key), key]));
  await checkCanary(db, newest, masters);
  const cache = new LRUCache<string, Keys>({ max: MOST, ttl: KEPT_MS });
  const loading = new Map<string, Promise<Keys>>();

  /** Concurrent requests for the keys of a workspace load them only once. */
  async function keysOf(workspaceId: string, version?: number): Promise<Keys> {
    const known = cache.get(workspaceId);
    if (known && (version === undefined || known.byVersion.has(version))) return known;
    const running = loading.get(workspaceId) ?? forAll(() => load(workspaceId)).finally(() => loading.delete(workspaceId));
    loading.set(workspaceId, running);
    return running;
  }

  async function load(workspaceId: string): Promise<Keys> {
    const rows = await db.reserved((tx) =>
      tx.rows<KeyRow>('select workspace_id, version, wrapped, master_key_id from data_keys where workspace_id = ?::uuid order by version', [
        workspaceId,
      ]),
    );
    const last = rows.at(-1);
    if (!last) cache.delete(workspaceId);
    if (!last) throw new Error(`Cannot read or write secrets of workspace ${workspaceId}: it has no data key; it was deleted`);
    const keys = {
      byVersion: new Map(rows.map((row) => [row.version, unwrap(masters, row)])),
      newest: last.version,
    };
    cache.set(workspaceId, keys);
    return keys;
  }

  const open = async (workspaceId: string, place: string, sealed: Uint8Array): Promise<Buffer> => {
    const value = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (value.length < HEAD + NONCE + TAG || value[0] !== VERSION) throw unreadable(place);
    const version = value.readUInt32BE(1);
    const key = (await keysOf(workspaceId, version)).byVersion.get(version);
    if (!key) throw unreadable(place);
    try {
      return decrypt(key, `${workspaceId}|${place}`, value.subarray(HEAD));
    } catch {
      throw unreadable(place);
    }
  };
  return {
    open,
    text: async (workspaceId, place, sealed) => (sealed ? (await open(workspaceId, place, sealed)).toString('utf8') : null),
    async seal(workspaceId, place, plain) {
      const keys = await keysOf(workspaceId);
      const head = Buffer.alloc(HEAD);
      head[0] = VERSION;
      head.writeUInt32BE(keys.newest, 1);
      return Buffer.concat([head, encrypt(keys.byVersion.get(keys.newest)!, `${workspaceId}|${place}`, Buffer.from(plain as string))]);
    },
    async derive(workspaceId, purpose) {
      const [version, key] = (await keysOf(workspaceId)).byVersion.entries().next().value!;
      return { version, key: Buffer.from(hkdfSync('sha256', key, '', `${workspaceId}|${purpose}`, 32)) };
    },
    async createKey(tx, workspaceId) {
      await tx.rows('insert into data_keys (workspace_id, version, wrapped, master_key_id) values (?::uuid, 1, ?, ?)', [
        workspaceId,
        wrap(newest, workspaceId, 1, randomBytes(32)),
        masterKeyId(newest),
      ]);
    },
    rotate: () => db.acrossTenants((tx) => rewrap(tx, newest, masters)),
  };
}

/** A value that only the correct master key decrypts; written at the first start. */
async function checkCanary(db: Db, newest: Buffer, masters: ReadonlyMap<string, Buffer>): Promise<void> {
  const row = await db.acrossTenants(async (tx) => {
    await tx.rows(`insert into facts (name, value) values ('canary', ?) on conflict (name) do nothing`, [
      encrypt(newest, 'canary', Buffer.from(CANARY)),
    ]);
    return tx.row<{ value: Buffer }>(`select value from facts where name = 'canary'`);
  });
  if (![...masters.values()].some((master) => opensCanary(master, row!.value))) throw wrongKey();
}

/**
 * Throws if none of the master keys is the one this database was written with. False: nothing was encrypted in it yet. Changes nothing, unlike
 * `openVault`.
 */
export async function requireMasterKey(db: Db, masterKeys: readonly Buffer[]): Promise<boolean> {
  const [row] = await db.query<{ value: Buffer }>('*', `select value from facts where name = 'canary'`);
  if (row && !masterKeys.some((master) => opensCanary(master, row.value))) throw wrongKey();
  return row !== undefined;
}

function opensCanary(master: Buffer, value: Buffer): boolean {
  try {
    return decrypt(master, 'canary', value).toString() === CANARY;
  } catch {
    return false;
  }
}

function wrongKey(): Error {
  return new Error(
    'Cannot open the vault: the master key is not the one this database was written with. Restore it from your backup (LONGHAND_MASTER_KEY, LONGHAND_MASTER_KEY_FILE or master.key in LONGHAND_HOME)',
  );
}

async function rewrap(tx: Tx, newest: Buffer, masters: ReadonlyMap<string, Buffer>): Promise<number> {
  const id = masterKeyId(newest);
  const rows = await tx.rows<KeyRow>(
    'select workspace_id, version, wrapped, master_key_id from data_keys where master_key_id <> ? for update',
    [id],
  );
  for (const row of rows) {
    await tx.rows('update data_keys set wrapped = ?, master_key_id = ? where workspace_id = ?::uuid and version = ?', [
      wrap(newest, row.workspace_id, row.version, unwrap(masters, row)),
      id,
      row.workspace_id,
      row.version,
    ]);
  }
  await tx.rows(`update facts set value = ? where name = 'canary'`, [encrypt(newest, 'canary', Buffer.from(CANARY))]);
  return rows.length;
}

function wrap(master: Buffer, workspaceId: string, version: number, key: Buffer): Buffer {
  return encrypt(master, `data_keys|${workspaceId}|${version}`, key);
}

function unwrap(masters: ReadonlyMap<string, Buffer>, row: KeyRow): Buffer {
  const master = masters.get(row.master_key_id);
  if (!master) {
    const message = `Cannot read secrets of workspace ${row.workspace_id}: its data key is encrypted with master key ${row.master_key_id}, which this process was not given. Start it with both, the newest first: LONGHAND_MASTER_KEY=new,old, or so in the key file`;
    throw Object.assign(new Error(message), { code: NO_KEY });
  }
  return decrypt(master, `data_keys|${row.workspace_id}|${row.version}`, row.wrapped);
}

/** nonce, tag, ciphertext */
function encrypt(key: Buffer, context: string, plain: Buffer): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const text = cipher.update(plain);
  cipher.final();
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

function decrypt(key: Buffer, context: string, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE), { authTagLength: TAG })
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(NONCE, NONCE + TAG));
  const plain = decipher.update(sealed.subarray(NONCE + TAG));
  decipher.final();
  return plain;
}

function unreadable(place: string): Error {
  return new Error(
    `Cannot decrypt the value at ${place}: it was modified, belongs to another row or workspace, or its data key was destroyed`,
  );
}

/**
 * How long a page of 20 out of a million transcriptions of one workspace takes, over HTTP, with everything on this machine:
 * `node --import tsx bench/list.ts [--rows 1000000] [--json]`. The promise: under 50 ms with a metadata filter on 2 cores.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startApp } from '../api/app.ts';
import { readSettings } from '../api/contract/settings.ts';
import { openLog } from '../api/log.ts';
import { startEmbedded } from '../db/embedded.ts';
import { hashOf, newKey } from '../db/keys.ts';
import { termOf } from '../db/matching.ts';
import { migrate } from '../db/migrate.ts';
import { type Db, openDb } from '../db/orm.ts';
import { openSpool } from '../db/spool.ts';
import { openVault, type Vault } from '../db/vault.ts';

const BATCH = 5_000; // rows an insert
const ROUNDS = 40; // requests a query
const COLUMNS = `(id uuid, project_id uuid, creator_id uuid, author_id uuid, status text, filename_sealed text, speakers_sealed text,
  external_id text, metadata_text text, duration_seconds float8, created_at timestamptz)`;

interface People {
  workspaceId: string;
  members: string[];
  projectId: string;
  ownerKey: string;
  memberKey: string;
}

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' }, json: { type: 'boolean', default: false } } });
const rows = Number(values.rows);
const home = mkdtempSync(join(tmpdir(), 'longhand-list-'));
const postgres = await startEmbedded(join(home, 'postgres'), { durable: false });
try {
  const db = await openDb({ url: postgres.url, name: 'longhand-bench' });
  try {
    await migrate(db);
    const owner = await openDb({ url: postgres.url, pool: 1 });
    const asOwner = (sql: string) => owner.orm.em.getConnection().execute(sql);
    await asOwner('alter table transcriptions disable trigger user'); // `fill` writes the terms of metadata itself, many at once
    const vault = await openVault(db, [randomBytes(32)]);
    const people = await populate(db, vault);
    const started = performance.now();
    await fill(db, vault, people);
    process.stderr.write(`${rows} rows in ${Math.round((performance.now() - started) / 1000)} s\n`);
    await asOwner('vacuum (analyze)').finally(() => owner.close());
    const results = await measure(db, vault, people);
    const machine = `${cpus().length} x ${cpus()[0]?.model}`;
    if (values.json) process.stdout.write(`${JSON.stringify({ rows, machine, results })}\n`);
    else {
      process.stdout.write(`${rows} transcriptions of one workspace, pages of 20, ${machine}\n`);
      for (const { name, total, p50, p95 } of results)
        process.stdout.write(
          `${name.padEnd(44)} ${String(total).padStart(8)} found   p50 ${p50.toFixed(1)} ms   p95 ${p95.toFixed(1)} ms\n`,
        );
    }
  } finally {
    await db.close();
  }
} finally {
  await postgres.stop();
  rmSync(home, { recursive: true, force: true });
}

async function populate(db: Db, vault: Vault): Promise<People> {
  return db.system(async (tx) => {
    const id = async (sql: string, parameters: unknown[]) => (await tx.row<{ id: string }>(sql, parameters))!.id;
    const workspaceId = await id(`insert into workspaces (name) values ('Large') returning id`, []);
    await vault.createKey(tx, workspaceId);
    const members: string[] = [];
    for (let i = 0; i < 50; i++) {
      const role = i ? 'user' : 'owner';
      members.push(
        await id('insert into members (workspace_id, email, role) values (?, ?, ?) returning id', [workspaceId, `m${i}@example.com`, role]),
      );
    }
    const projectId = await id(`insert into projects (workspace_id, name) values (?, 'Sales') returning id`, [workspaceId]);
    await tx.rows(`insert into project_members (project_id, member_id, workspace_id, role) values (?, ?, ?, 'viewer')`, [
      projectId,
      members[1],
      workspaceId,
    ]);
    const key = async (member: string) => {
      const secret = newKey();
      await tx.rows(`insert into api_keys (workspace_id, member_id, hash, hint, scopes) values (?, ?, ?, '', '{read}')`, [
        workspaceId,
        member,
        hashOf(secret),
      ]);
      return secret;
    };
    return { workspaceId, members, projectId, ownerKey: await key(members[0]!), memberKey: await key(members[1]!) };
  });
}

/** A year of calls: 50 members, a tenth of the calls in one project, metadata of four keys. */
async function fill(db: Db, vault: Vault, { workspaceId, members, projectId }: People): Promise<void> {
  const year = 365 * 86_400_000;
  for (let from = 0; from < rows; from += BATCH) {
    const batch = await Promise.all(
      Array.from({ length: Math.min(BATCH, rows - from) }, async (_, k) => {
        const i = from + k;
        const id = randomUUID();
        const seal = async (column: string, text: string) =>
          (await vault.seal(workspaceId, `transcriptions|${id}|${column}`, text)).toString('hex');
        const member = members[i % members.length]!;
        return {
          id,
          project_id: i % 10 === 3 ? projectId : null,
          creator_id: member,
          author_id: member,
          status: i % 100 === 99 ? 'failed' : 'completed',
          filename_sealed: await seal('filename', `Call ${i}.mp3`),
          speakers_sealed: await seal(
            'speakers',
            '[{"id":"speaker_1","ai_name":null,"name":null},{"id":"speaker_2","ai_name":null,"name":null}]',
          ),
          external_id: `deal-${i >> 2}`,
          metadata_text: JSON.stringify({
            deal: i >> 2,
            agent: `a${i % 997}`,
            source: i % 3 ? 'crm' : 'pbx',
            tags: [`t${i % 101}`, 'call'],
          }),
          terms: [
            termOf('deal', String(i >> 2)),
            termOf('agent', `a${i % 997}`),
            termOf('source', i % 3 ? 'crm' : 'pbx'),
            termOf('tags', `t${i % 101}`),
            termOf('tags', 'call'),
          ],
          duration_seconds: 10 + ((i * 7919) % 3_600_000) / 1000,
          created_at: new Date(Date.now() - year + Math.floor((i / rows) * year)).toISOString(),
        };
      }),
    );
    await db.system(async (tx) => {
      const given = [workspaceId, JSON.stringify(batch)];
      await tx.rows(
        `insert into transcriptions (id, workspace_id, project_id, creator_id, author_id, author_email, status, filename_sealed,
           speakers_sealed, extension, media_type, external_id, metadata_text, metadata, duration_seconds, created_at)
         select r.id, ?::uuid, r.project_id, r.creator_id, r.author_id, 'm@example.com', r.status, decode(r.filename_sealed, 'hex'),
           decode(r.speakers_sealed, 'hex'), 'mp3', 'audio', r.external_id, r.metadata_text, r.metadata_text::jsonb, r.duration_seconds, r.created_at
         from json_to_recordset(?::json) as r${COLUMNS}`,
        given,
      );
      await tx.rows(
        `insert into metadata_terms (transcription_id, workspace_id, term, status, created_at)
         select r.id, ?::uuid, x::uuid, r.status, r.created_at
         from json_to_recordset(?::json) as r(id uuid, status text, created_at timestamptz, terms text[]), unnest(r.terms) x`,
        given,
      );
    });
  }
}

async function measure(db: Db, vault: Vault, people: People) {
  const settings = readSettings({ LONGHAND_HOME: home, PORT: '0', LONGHAND_RATE_LIMIT: '0', LOG_LEVEL: 'silent' });
  const app = await startApp({ db, vault, spool: await openSpool(settings), settings, log: openLog(settings, 'bench') });
  const middle = rows >> 3;
  const queries: [string, string, string][] = [
    ['metadata, one deal', people.ownerKey, `metadata.deal=${middle}`],
    ['metadata, one agent of 997', people.ownerKey, 'metadata.agent=a42'],
    ['metadata, agent and source', people.ownerKey, 'metadata.agent=a42&metadata.source=crm'],
    ['metadata, agent by duration', people.ownerKey, 'metadata.agent=a42&sort=-duration'],
    ['metadata, tag of 101', people.ownerKey, 'metadata.tags=t7'],
    ['metadata, two thirds of all', people.ownerKey, 'metadata.source=crm'],
    ['metadata, agent, as a member', people.memberKey, 'metadata.agent=a42'],
    ['external id', people.ownerKey, `external_id=deal-${middle}`],
    ['everything', people.ownerKey, ''],
    ['everything by duration', people.ownerKey, 'sort=duration'],
    ['everything, offset 500000', people.ownerKey, `offset=${rows >> 1}`],
    ['everything, as a member', people.memberKey, ''],
  ];
  try {
    const results = [];
    for (const [name, key, query] of queries) {
      const times: number[] = [];
      let total = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const start = performance.now();
        const answer = await fetch(`${app.url}/v1/transcriptions?${query}`, { headers: { authorization: `Bearer ${key}` } });
        const page = (await answer.json()) as { total: number };
        times.push(performance.now() - start);
        if (answer.status !== 200) throw new Error(`Cannot measure ${name}: the answer is ${answer.status}`);
        total = page.total;
      }
      times.sort((a, b) => a - b);
      results.push({ name, total, p50: times[ROUNDS >> 1]!, p95: times[Math.floor(ROUNDS * 0.95)]! });
    }
    return results;
  } finally {
    await app.stop(1);
  }
}

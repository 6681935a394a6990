import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { SORTS } from '../../../api/contract/transcription.ts';
import { openVault } from '../../../db/secrets/vault.ts';
import type { ListQuery } from '../../../db/transcripts/filter.ts';
import { listItems } from '../../../db/transcripts/list.ts';
import { openTotals } from '../../../db/transcripts/totals.ts';
import { tokenOf } from '../../support/api/actors.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld, type Person } from '../../support/databases/world.ts';
import { runs } from '../../support/property.ts';

const { db } = await testDatabase(t);
const vault = await openVault(db, [randomBytes(32)]);
const world = openWorld(db, vault);
const totals = openTotals();
const workspace = await world.workspace();
const people = [await world.member(workspace, { role: 'owner' }), await world.member(workspace), await world.member(workspace)];
const projects = [await world.project(workspace, 'A'), await world.project(workspace, 'B')];
await world.join(projects[0]!, people[1]!, 'viewer');

/** Metadata as received JSON text, and filter values for it. */
const METADATA = [
  '{"a":1}',
  '{"a":"1","b":null}',
  '{"a":1.0}',
  '{"a":[1,"x",[true]]}',
  '{"a":{"a":1},"b":"null"}',
  '{"a.b":"1","":"x"}',
  '{"a":12345678901234567890}',
  '{"a":1e2,"b":"é"}',
];
const VALUES = ['1', '1.0', 'x', 'true', 'null', '12345678901234567890', '12345678901234567000', '1e2', '100', 'é', '', '{"a":1}'];
const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03'];

interface Row {
  id: string;
  creator: Person;
  author: Person;
  projectId?: string;
  status: 'completed' | 'failed';
  language?: string;
  externalId?: string;
  metadata?: string;
  duration: number | null;
  createdAt: string;
}

const pick = <T>(values: readonly T[], i: number) => values[i % values.length]!;
const rows: Row[] = [];
for (let i = 0; i < 120; i++) {
  const row: Omit<Row, 'id'> = {
    creator: pick(people, i),
    author: pick(people, i * 7 + 1),
    projectId: pick([undefined, projects[0], projects[1], undefined], i >> 1),
    status: i % 5 ? 'completed' : 'failed',
    language: pick(['en', 'de', undefined], i >> 2),
    externalId: pick(['X', 'x', undefined], i),
    metadata: pick([...METADATA, undefined], i * 5),
    duration: pick([null, 1, 2.5, 2.5, 60], i >> 1),
    createdAt: `${pick(DAYS, i * 11)}T${String(i % 24).padStart(2, '0')}:59:59.999Z`,
  };
  rows.push({ ...row, id: await world.transcription(row.creator, row) });
}

/** A second, deliberately simple implementation of the filters. */
function expected(person: Person, owner: boolean, query: ListQuery): Row[] {
  const seen = (row: Row) =>
    owner || row.author === person || row.creator === person || (person === people[1] && row.projectId === projects[0]);
  const texts = (value: unknown, raw: string): string[] => {
    if (Array.isArray(value)) return value.flatMap((each) => texts(each, ''));
    if (value !== null && typeof value === 'object') return [];
    return [typeof value === 'number' && raw ? raw : String(value)];
  };
  const has = (row: Row, key: string, value: string) => {
    const data = row.metadata ? JSON.parse(row.metadata) : {};
    const raw = /^\{"a":([-0-9.e]+)/.exec(row.metadata ?? '')?.[1] ?? '';
    return Object.hasOwn(data, key) && texts(data[key], key === 'a' ? raw : '').includes(value);
  };
  const found = rows.filter(
    (row) =>
      seen(row) &&
      row.status === query.status &&
      (query.projectId ?? row.projectId) === row.projectId &&
      (query.language ?? row.language) === row.language &&
      (query.externalId ?? row.externalId) === row.externalId &&
      query.metadata.every(({ key, value }) => has(row, key, value)) &&
      row.createdAt.slice(0, 10) >= (query.dateFrom ?? '') &&
      row.createdAt.slice(0, 10) <= (query.dateTo ?? '9'),
  );
  const down = query.sort.startsWith('-');
  const by = (row: Row) => (query.sort.endsWith('duration') ? row.duration : Date.parse(row.createdAt));
  return found.sort((one, two) => {
    const [a, b] = [by(one), by(two)];
    if (a !== b) return a === null ? 1 : b === null ? -1 : down ? b - a : a - b;
    return one.id < two.id ? -1 : 1;
  });
}

const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const queries: fc.Arbitrary<ListQuery> = fc.record({
  status: fc.constantFrom('completed', 'completed', 'failed', 'gone'),
  projectId: maybe([...projects, '11111111-1111-1111-1111-111111111111']),
  language: maybe(['en', 'de', 'fr']),
  externalId: maybe(['X', 'x', 'y']),
  metadata: fc.array(fc.record({ key: fc.constantFrom('a', 'a', 'b', 'a.b', '', 'c'), value: fc.constantFrom(...VALUES) }), {
    maxLength: 2,
  }),
  dateFrom: maybe(DAYS),
  dateTo: maybe(DAYS),
  sort: fc.constantFrom(...SORTS),
  limit: fc.integer({ min: 1, max: 100 }),
  offset: fc.constantFrom(0, 0, 1, 7, 1000),
});

t.test('listItems() equals a simple in-memory filter, for every filter, sort, page and role', async (t) => {
  await fc.assert(
    fc.asyncProperty(queries, fc.integer({ min: 0, max: 2 }), async (query, i) => {
      const person = people[i]!;
      const viewer = tokenOf(person, i ? 'user' : 'owner');
      const { items, total } = await db.workspace(workspace, (tx) => listItems(tx, vault, totals, viewer, query));
      const wanted = expected(person, i === 0, query);
      t.equal(total, wanted.length);
      t.strictSame(
        items.map(({ id }) => id),
        wanted.slice(query.offset, query.offset + query.limit).map(({ id }) => id),
      );
    }),
    runs(150),
  );
});

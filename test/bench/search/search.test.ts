import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import * as scale from '../../../bench/scale/report.ts';
import { searchDump } from '../../../bench/search/dump.ts';
import { pageWith, savedRows } from '../../../bench/search/report.ts';
import { openScripts, vocabulary } from '../../../bench/search/said.ts';
import { startEmbedded } from '../../../db/postgres/embedded.ts';
import { openDb } from '../../../db/postgres/orm.ts';

t.test('searchDump() finds a word that any table holds, as text or as bytes, and refuses a dump without the control', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'longhand-dump-'));
  chmodSync(home, 0o755);
  const postgres = await startEmbedded(join(home, 'postgres'), { durable: false });
  const url = new URL(postgres.url);
  url.username = 'postgres';
  url.password = readFileSync(join(home, 'postgres', 'superuser-password'), 'utf8').trim();
  const server = await openDb({ url: url.href, pool: 1 });
  t.teardown(async () => {
    await server.close();
    await postgres.stop();
    rmSync(home, { recursive: true, force: true });
  });
  const search = (words: string[]) => searchDump(server, join(home, 'postgres', 'data', 'dump'), words, 'unencrypted');
  await server.direct('create table notes (text text, bytes bytea)');
  await server.direct(`insert into notes select repeat('x', 2_000_000) || 'pomegranate', convert_to('Überraschung', 'UTF8')`);
  await t.rejects(search(['pomegranate']), /does not contain unencrypted/);
  await server.direct(`insert into notes values ('unencrypted', '')`);
  t.match(await search(['Pomegranate', 'überraschung', 'chrysanthemum', 'short']), { words: 4, found: ['public.notes: pomegranate'] });
  t.match((await search(['Überraschung'])).found, ['public.notes: Überraschung']);
});

t.test('openScripts() gives every transcript words of its own, 20 to 10,000, the same each time', async (t) => {
  const script = openScripts();
  const lengths = Array.from({ length: 3_000 }, (_, i) => script(i).words.length);
  t.ok(Math.min(...lengths) >= 20 && Math.max(...lengths) <= 10_000 && new Set(lengths).size > 500);
  t.strictSame(openScripts()(4_097), script(4_097));
  t.notSame(script(1).words, script(4_097).words);
  t.ok(new Set(vocabulary()).size > 300_000);
});

t.test('pageWith() of the saved rows equals docs/benchmarks.md; `bench/search/search.ts --save` writes it', async (t) => {
  t.ok(savedRows().length > 0);
  t.equal(readFileSync(new URL('../../../docs/benchmarks.md', import.meta.url), 'utf8'), pageWith(savedRows()));
});

t.test('the table of bench/scale/scale.ts in docs/benchmarks.md is that of the saved figures', async (t) => {
  t.ok(scale.savedRows().length > 0);
  t.equal(readFileSync(new URL('../../../docs/benchmarks.md', import.meta.url), 'utf8'), scale.pageWith(scale.savedRows()));
});

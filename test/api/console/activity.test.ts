import { randomUUID } from 'node:crypto';
import t from 'tap';
import { addOperator } from '../../../db/access/operators.ts';
import { faultsOf, findings, openConsole, shot, signIn } from '../../support/console/browser.ts';
import { visit } from '../../support/console/console.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const api = await openConsole(t, programs.chromium);
const { world, db, url, workspace, ann, browser } = api;
const bob = await world.member(workspace, { name: 'Bob' });
const sales = await world.project(workspace, 'Sales');
const charge = (id: string, minutes: number, days: number) =>
  db.query(
    '*',
    `insert into ledger (workspace_id, transcription_id, minutes, created_at) values (?, ?, ?, now() - ?::int * interval '1 day')`,
    [...[workspace, id, -minutes, days]],
  );
const took = (id: string, seconds: number, confidence: number) =>
  db.query(
    '*',
    `update transcriptions set started_at = created_at, completed_at = created_at + ?::int * interval '1 second', confidence = ? where id = ?`,
    [seconds, confidence, id],
  );
const [first, second] = [await world.transcription(ann, { projectId: sales, title: 'Mumbled' }), await world.transcription(bob)];
await charge(first, 12, 0);
await charge(second, 3.5, 2);
await charge(randomUUID(), 1, 2);
await charge(randomUUID(), 100, 40);
await took(first, 60, 0.41);
await took(second, 120, 0.97);

t.test('activity() counts minutes by day, project and member, durations, and recordings to review; for owners only', async (t) => {
  const { json } = await visit(api, await world.key(ann)).then((owner) => owner.ask('GET', '/activity'));
  t.match(json.usage, [
    { minutes: 3.5, project: null, member: 'Bob' },
    { minutes: 1, project: null, member: null },
    { minutes: 12, project: 'Sales', member: 'Ann' },
  ]);
  t.equal(json.usage.length, 3, 'entries older than 30 days are omitted');
  t.strictSame(json.ready, { p50: 90, p95: 117 });
  t.strictSame(
    json.second_look.map(({ id, title }: { id: string; title: string }) => ({ id, title })),
    [{ id: first, title: 'Mumbled' }],
  );
  const member = await visit(api, await world.key(bob));
  t.equal((await member.ask('GET', '/activity')).status, 403);
  t.equal((await member.ask('GET', '/installation')).status, 403);
});

await db.acrossTenants((tx) => addOperator(tx, 'ann@example.com'));
await db.query(
  '*',
  `insert into engines (id, host, pid, version, device, model, concurrency, working, last_seen)
   values (gen_random_uuid(), 'host-a', 1, '1.1.0', 'cpu', 'whisper-base', 4, 1, now() + interval '1 hour')`,
);
const full = await db.workspace(workspace, async () => world.key(ann));

for (const [look, width] of [
  ['light', 1440],
  ['dark', 390],
] as const)
  t.test(`the workspace and installation pages show figures, or a sentence: ${look}, ${width} px`, async (t) => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: look });
    const page = await context.newPage();
    const faults = faultsOf(page);
    await signIn(page, url, full.key);
    await page.goto(`${url}/#/activity`);
    await page.waitForSelector('text=17 minutes in the last 30 days');
    t.match(await page.textContent('.figures'), /p501 min 30 s.*Time to transcript, p95/);
    t.equal(await page.title(), 'Activity · Longhand');
    await page.waitForSelector('text=No failures in the last 48 hours.');
    await page.waitForSelector('li:has-text("Mumbled") >> text=confidence 41 %');
    await page.selectOption('label:has-text("Member") select', 'Bob');
    await page.waitForSelector('text=4 minutes in the last 30 days');
    await page.selectOption('label:has-text("Project") select', 'Sales');
    await page.waitForSelector('text=Nothing was transcribed in the last 30 days.');
    t.equal(await page.locator('.chart').count(), 0, 'no empty axes');
    await page.selectOption('label:has-text("Member") select', 'every');
    await page.waitForSelector('.chart');
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    t.strictSame(await findings(page), []);
    await shot(page, `activity-${look}-${width}`);
    await page.click('a:text-is("Installation")');
    await page.waitForSelector('.lines:has-text("whisper-base on cpu, 1 of 4 slots in use · version 1.1.0")');
    t.match(await page.textContent('.figures'), /Slots in use25 %/);
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    t.strictSame(await findings(page), []);
    await shot(page, `installation-${look}-${width}`);
    t.strictSame(faults, []);
    await context.close();
  });

import type { Page } from 'playwright-core';
import { addOperator } from '../../../db/access/operators.ts';
import { claimReport, completeReport } from '../../../db/reports/work.ts';
import { SPEAKERS, TURNS } from '../databases/world.ts';
import { keepSilence, silence } from '../engine/silence.ts';
import type { TestConsole } from './browser.ts';
import { visit } from './console.ts';

/** A page of the console: its name in screenshots, its path, what it shows, and what a person opens in it. */
export interface ConsolePage {
  name: string;
  path: string;
  shown: string;
  open?: (page: Page) => Promise<unknown>;
}

/** Inserts rows for every page of the console; returns the pages. */
export async function everyPage(api: TestConsole): Promise<{ pages: ConsolePage[]; talk: string }> {
  const { world, db, vault, workspace, ann, key } = api;
  const bob = await world.member(workspace, { name: 'Bob', email: 'bob@example.com' });
  await world.member(workspace, { email: 'carl@example.com', status: 'pending' });
  const sales = await world.project(workspace, 'Sales');
  const closed = await world.project(workspace, 'Closed');
  await world.join(sales, bob, 'editor');
  await world.join(closed, bob, 'viewer');
  const talk = await world.transcription(ann, {
    title: 'Deliveries for March',
    language: 'en',
    projectId: sales,
    externalId: 'deal-1',
    metadata: '{"deal": 42, "stage": "won"}',
    summary: 'They agreed on a date.',
    topics: ['Date'],
  });
  await world.report(
    talk,
    'summary',
    'completed',
    '## Points\n\n- **Baker** delivers on the 20th [00:02]\n\n| who | what |\n|---|---|\n| Ann | calls |',
  );
  await world.report(talk, 'tasks', 'failed');
  const failed = await world.transcription(ann, { status: 'failed', errorCode: 'FILE_NO_AUDIO', filename: 'silent.mp3' });
  const poor = await world.transcription(ann, { status: 'insufficient_balance', filename: 'long.mp3', required: 71.5, available: 3 });
  const busy = await world.transcription(ann, { status: 'processing', filename: 'now.mp3', stage: 'transcribing', fraction: 0.4 });
  const watched = await world.transcription(bob, { title: 'Seen by a viewer', projectId: closed, author: ann });
  await db.acrossTenants((tx) => tx.rows(`update transcriptions set creator_id = ? where id = ?`, [ann.id, watched]));

  await db.query('*', 'insert into ledger (workspace_id, minutes, transcription_id) values (?, -12.5, ?)', [workspace, talk]);
  await db.query('*', `insert into audit_log (workspace_id, actor_kind, member_id, action) values (?, 'session', ?, 'settings.change')`, [
    workspace,
    ann.id,
  ]);

  const visitor = await visit(api, { key });
  const hers = async (method: string, path: string, body?: unknown) => {
    const { status, text } = await visitor.ask(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  };
  const spoken = await world.transcription(ann, { title: 'Second report' });
  const first = await world.report(spoken, 'summary', 'completed', 'The first.');
  await hers('POST', `/transcriptions/${spoken}/reports/${first}/regenerate`);
  await completeReport(db, vault, (await claimReport(db, '00000000-0000-4000-8000-000000000001'))!, 'The **second**.');
  await hers('PATCH', `/transcriptions/${spoken}/text`, { version: 0, segments: [{ id: 1, text: 'Hello here.' }] });
  const heard = await world.transcription(ann, { title: 'A call to listen to', duration: 30, turns: TURNS, speakers: SPEAKERS });
  await keepSilence(api, heard, 30);
  await db.query('*', 'update workspaces set keep_recordings_days = 7 where id = ?', [workspace]);
  await hers('POST', '/invitations', { email: 'cy@example.com', name: 'Cy', role: 'user' });
  await hers('POST', '/webhooks', { url: 'https://crm.example/hook', events: ['transcription.completed'] });
  await world.template(workspace, 'delivery-check');
  await world.token(ann, ['read']);
  await db.acrossTenants((tx) => addOperator(tx, ann.email));
  await db.query(
    '*',
    `insert into engines (id, host, pid, version, device, model, concurrency) values (gen_random_uuid(), 'host-a', 1, '1', 'cpu', 'm', 2)`,
  );

  const page = (name: string, path: string, shown: string, open?: ConsolePage['open']): ConsolePage => ({ name, path, shown, open });
  const pages = [
    page('list', '/', 'text=Deliveries for March'),
    page('search', '/?q=hello', 'mark'),
    page('account', '/?q=hello&sort=duration', 'mark', (page) => page.click('summary[aria-label="Account"]')),
    page('no-match', '/?external_id=none', '.empty'),
    page('deletion', '/?sort=-duration', 'text=Deliveries for March', selectAndDelete),
    page('transcript', `/t/${talk}`, '.turn', (page) => page.click('summary:has-text("Export")')),
    page('reports', `/t/${talk}?turn=2`, '.turn', readReports),
    page('correction', `/t/${spoken}`, '.turn .edit', correctTurn),
    page('report-history', `/t/${spoken}?turn=2`, '.turn', readEarlierReport),
    page('kept-recording', `/t/${heard}`, '.player >> text=The recording is kept until', listen),
    page('own-copy', `/t/${talk}?turn=1`, '.turn', openCopy),
    page('failed', `/t/${failed}`, 'text=There is no audio in this file.'),
    page('poor', `/t/${poor}`, 'text=71.5 minutes are needed and 3 are left'),
    page('busy', `/t/${busy}`, 'text=Transcribing'),
    page('not-found', '/t/nothing', 'text=Not found'),
    page('activity', '/activity', 'text=13 minutes in the last 30 days'),
    page('installation', '/installation', 'text=host-a'),
    page('not-enough-minutes', '/?status=insufficient_balance', 'a[aria-current]:has-text("Not enough minutes")'),
    page('workspace', '/workspace', 'text=minutes'),
    page('keys', '/workspace/keys', 'text=Revoke'),
    page('templates', '/workspace/templates', 'article:has-text("delivery-check")'),
    page('template', '/workspace/templates?new', 'text=Built-in', (page) => page.click('text=New template')),
    page('projects', '/workspace/projects', 'summary:has-text("Sales")'),
    page('members', '/workspace/members', 'li:has-text("cy@example.com")'),
    page('webhooks', '/workspace/webhooks', 'article:has-text("crm.example")'),
    page('settings', '/workspace/settings', 'textarea'),
    page('access', '/workspace/access', 'h2:has-text("Assistants with access") + ul'),
    page('usage', '/workspace/usage', 'text=12.5'),
    page('log', '/workspace/log', 'text=settings: change'),
  ];
  return { pages, talk };
}

async function readReports(page: Page): Promise<void> {
  await page.click('role=tab[name=/Reports/]');
  await page.waitForSelector('.prose table');
}

async function selectAndDelete(page: Page): Promise<void> {
  await page.check('text=Select page');
  await page.click('.bulk >> text=Delete…');
  await page.waitForSelector('dialog[open]');
}

async function correctTurn(page: Page): Promise<void> {
  await page.waitForSelector('summary:has-text("Corrections (1)")');
  await page.focus('#turn-1 .edit');
  await page.keyboard.press('Enter');
  await page.waitForSelector('textarea:focus');
}

async function listen(page: Page): Promise<void> {
  await page.click('#turn-1 .word >> nth=1');
  await page.waitForSelector('.word.said');
}

/** A copy of another length than the recording, so that the notice about it is shown too. */
async function openCopy(page: Page): Promise<void> {
  const buffer = Buffer.concat([...silence(20)]);
  await page.setInputFiles('.player input[type=file]', { name: 'copy.wav', mimeType: 'audio/wav', buffer });
  await page.waitForSelector('.player [role=alert]:has-text("it may be another one")');
  await page.click('#turn-1 .word >> nth=1');
  await page.waitForSelector('.word.said');
}

async function readEarlierReport(page: Page): Promise<void> {
  await page.click('role=tab[name=/Reports/]');
  await page.click('.earlier summary');
  await page.waitForSelector('.earlier .prose:has-text("The first.")');
}

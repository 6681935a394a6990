import { readFileSync } from 'node:fs';
import t from 'tap';
import { faultsOf, findings, focusesAtOnce, openConsole, shot, signIn } from '../../support/console/browser.ts';
import { visit } from '../../support/console/console.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const api = await openConsole(t, programs.chromium);
const { world, db, url, workspace, ann, browser, key } = api;
const bob = await world.member(workspace, { name: 'Bob' });
const project = await world.project(workspace, 'Sales');
await world.join(project, bob, 'viewer');
const SAID = 'Good morning, this is about the delivery of the green bicycle that I ordered in March.';
const call = await world.transcription(ann, {
  ...{ filename: 'call-17.mp3', externalId: 'deal-17', metadata: '{"caller": "+49 30 1234"}', language: 'en', duration: 60 },
  speakers: [
    { id: 'speaker_1', ai_name: null, name: 'Dorothy' },
    { id: 'speaker_2', ai_name: null, name: null },
  ],
  turns: [
    { start: 0, end: 5, speaker: 'speaker_1', text: SAID },
    { start: 65, end: 70, speaker: 'speaker_2', text: 'The green bicycle has arrived.' },
  ],
});
const broken = await world.transcription(ann, { status: 'failed', errorCode: 'FILE_NO_AUDIO', filename: 'silent.mp4' });
const running = await world.transcription(ann, {
  status: 'processing',
  filename: 'long.mp3',
  stage: 'transcribing',
  fraction: 0.4,
  duration: 600,
});
await db.acrossTenants((tx) => tx.rows(`update transcriptions set started_at = now() - interval '60 seconds' where id = ?`, [running]));
const waiting = await world.transcription(bob, { status: 'queued', filename: 'next.mp3', projectId: project });

t.test('listing() shows for each row how it begins, its progress and when it will be ready', async (t) => {
  const owner = await visit(api, await world.key(ann));
  const rows = new Map((await owner.ask('GET', '/listing')).json.items.map((row: { id: string }) => [row.id, row]));
  t.equal(rows.size, 4);
  t.match(rows.get(call), { status: 'completed', opening: `${SAID} The green bicycle has arrived.`, seconds_left: null, progress: null });
  t.match(rows.get(broken), { status: 'failed', error_code: 'FILE_NO_AUDIO', opening: null });
  const { seconds_left: left } = rows.get(running) as { seconds_left: number };
  t.ok(left >= 89 && left < 300, `${left} s for the remaining 60 %, after 40 % took 60 s`);
  t.match(rows.get(waiting), { status: 'queued', seconds_left: null, progress: { stage: 'waiting' } });
  t.match((await owner.ask('GET', '/listing?status=failed')).json, { total: 1, items: [{ id: broken }] });
  const viewer = await visit(api, await world.key(bob));
  t.match((await viewer.ask('GET', '/listing')).json, { total: 1, items: [{ id: waiting }] });
});

t.test('moveMany() and deleteMany() change what the person may change, and count the rest', async (t) => {
  const viewer = await visit(api, await world.key(bob));
  const [own, hers] = [await world.transcription(bob), await world.transcription(ann, { projectId: project })];
  const foreign = await world.transcription(await world.member(await world.workspace({ name: 'Other' }), { role: 'owner' }));
  t.equal(
    (await viewer.ask('POST', '/transcriptions/move', { ids: [own], project_id: project })).status,
    422,
    'a viewer cannot move anything there',
  );
  t.match(await viewer.ask('POST', '/transcriptions/move', { ids: [own, own, hers, foreign], project_id: null }), {
    ...{ status: 200, json: { moved: 1, refused: 2 } },
  });
  t.match(await viewer.ask('POST', '/transcriptions/delete', { ids: [own, hers, foreign] }), {
    status: 200,
    json: { deleted: 1, refused: 2 },
  });
  const left = await db.query<{ id: string }>('*', 'select id from transcriptions where id = any (?::uuid[])', [[own, hers, foreign]]);
  t.strictSame(left.map(({ id }) => id).sort(), [hers, foreign].sort());
  const reader = await visit(api, await world.key(ann, ['read']));
  t.equal((await reader.ask('POST', '/transcriptions/delete', { ids: [hers] })).status, 403);
  t.equal((await reader.ask('POST', '/transcriptions/move', { ids: [hers], project_id: null })).status, 403);
  t.match(
    await visit(api, await world.key(ann)).then((owner) => owner.ask('POST', '/transcriptions/move', { ids: [hers], project_id: project })),
    {
      ...{ status: 200, json: { moved: 1, refused: 0 } },
    },
  );
  const archive = await visit(api, await world.key(ann)).then((owner) =>
    owner.ask('POST', '/transcriptions/documents', { ids: [call], format: 'docx' }),
  );
  t.equal(archive.status, 200);
  await db.query('*', 'delete from transcriptions where id = ?::uuid', [hers]);
});

for (const [look, width] of [
  ['light', 1440],
  ['dark', 390],
] as const)
  t.test(`the list shows details, is searchable and clickable anywhere: ${look}, ${width} px`, async (t) => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: look });
    const page = await context.newPage();
    const faults = faultsOf(page);
    await signIn(page, url, key);
    await page.waitForSelector('a.open:text-is("call-17.mp3")');
    const row = page.locator('tr:has-text("call-17.mp3")');
    for (const detail of ['Good morning', 'Dorothy', 'Speaker 2', 'deal-17', '+49 30 1234', 'Ready'])
      t.match(await row.textContent(), detail, detail);
    t.match(await page.textContent('tr:has-text("long.mp3")'), /Transcribing, about \d+ min left/);
    t.match(await page.textContent('tr:has-text("silent.mp4")'), /There is no audio in this file/);
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    t.strictSame(await findings(page), []);
    await shot(page, `rows-${look}-${width}`);
    await row.scrollIntoViewIfNeeded();
    const box = (await row.boundingBox())!;
    await page.mouse.click(box.x + box.width - 12, box.y + box.height / 2);
    await page.waitForSelector('.turn');
    t.match(await page.title(), /^call-17\.mp3/);
    await page.goBack();
    await page.waitForSelector('main:focus');
    await page.fill('search input[name=q]', 'green bicycle');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.hit-list a:has-text("01:05 Speaker 2")');
    t.match(await page.textContent('.hit-list'), /00:00 Dorothy/);
    t.strictSame(await findings(page), []);
    await page.goto(`${page.url()}&language=de`);
    await page.waitForSelector('text=within these filters');
    await page.goto(`${url}/#/?q=green%20bicycle`);
    await page.click('.hit-list a:has-text("01:05")');
    await page.waitForSelector('#turn-2.wanted');
    t.strictSame(faults, []);
    await context.close();
  });

t.test('several rows are selected by keyboard alone, exported, moved and, after a confirmation, deleted', async (t) => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const faults = faultsOf(page);
  await signIn(page, url, key);
  const fresh = await Promise.all(['one', 'two'].map((title) => world.transcription(ann, { title })));
  await page.reload();
  for (const title of ['one', 'two']) {
    await page.focus(`input[aria-label="Select ${title}"]`);
    await page.keyboard.press('Space');
  }
  const choose = async (menu: string, item: string) => {
    await page.focus(`.bulk summary:has-text("${menu}")`);
    await page.keyboard.press('Enter');
    await page.focus(`.bulk .menu[open] .choice:has-text("${item}")`);
    await page.keyboard.press('Enter');
  };
  const [download] = await Promise.all([page.waitForEvent('download'), choose('Export 2', '.txt')]);
  t.equal(download.suggestedFilename(), 'transcriptions.zip');
  const zip = readFileSync(await download.path()).toString('latin1');
  t.ok(zip.includes('one.txt') && zip.includes('two.txt') && !zip.includes('call-17'));
  await choose('Move to project', 'Sales');
  await page.waitForSelector('.bulk [role=status]:has-text("Moved 2")');
  await page.waitForSelector('tr:has(a.open:text-is("one")) .chip:text-is("Sales")');
  await page.focus('input[aria-label="Select one"]');
  await page.keyboard.press('Space');
  await page.focus('.bulk button.danger');
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog:has-text("Delete 1 recording?")');
  t.strictSame(await findings(page), []);
  await shot(page, 'delete-dialog');
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  t.equal(await page.evaluate(() => document.activeElement?.textContent), 'Delete…', 'the focus returns');
  t.ok(await focusesAtOnce(page, '.bulk button.danger', 'dialog[open] button'));
  await page.focus('dialog button.danger');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.bulk [role=status]:has-text("Deleted 1")');
  await page.waitForSelector('a.open:text-is("one")', { state: 'detached' });
  const left = await db.query<{ id: string }>(workspace, 'select id from transcriptions where id = any (?::uuid[])', [fresh]);
  t.strictSame(left, [{ id: fresh[1] }]);
  t.strictSame(faults, []);
  await context.close();
});

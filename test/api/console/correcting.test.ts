import t from 'tap';
import { faultsOf, findings, focusesAtOnce, openConsole, shot, signIn } from '../../support/console/browser.ts';
import { visit } from '../../support/console/console.ts';
import { SPEAKERS } from '../../support/databases/world.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const api = await openConsole(t, programs.chromium);
const { world, url, ann, key, browser, workspace } = api;
const bob = await world.member(workspace, { name: 'Bob', role: 'owner' });
const his = await visit(api, await world.key(bob));
const TURNS = [
  { start: 0, end: 2, speaker: 'speaker_1', text: 'Helo there.' },
  { start: 3, end: 5, speaker: 'speaker_2', text: 'Good morning.' },
];
const THREE = [...SPEAKERS, { id: 'speaker_3', ai_name: null, name: null }];
const id = await world.transcription(ann, { title: 'A call', turns: TURNS, speakers: SPEAKERS });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const faults = faultsOf(page);
await signIn(page, url, key);
await page.goto(`${url}/#/t/${id}`);
await page.waitForSelector('.turn');

t.test('a person corrects a turn by keyboard, and the focus stays where it was', async (t) => {
  await page.focus('#turn-1 .edit');
  await page.keyboard.press('Enter');
  await page.waitForSelector('textarea[aria-label="Text of the turn"]:focus');
  t.strictSame(await findings(page), []);
  await shot(page, 'correcting');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Hello there.');
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('#turn-1 p:has-text("Hello there.")');
  await page.waitForSelector('#turn-1 .edit:focus');
});

t.test('a person whose edit conflicts with another sees the other edit, and decides', async (t) => {
  await page.focus('#turn-2 .edit');
  await page.keyboard.press('Enter');
  await page.waitForSelector('textarea:focus');
  t.equal((await his.ask('PATCH', `/transcriptions/${id}/text`, { version: 1, segments: [{ id: 2, text: 'Good day.' }] })).status, 200);
  await page.fill('textarea', 'Good evening.');
  await page.click('.turn-editor >> text=Save');
  await page.waitForSelector('[role=alert]:has-text("Bob has changed this turn in the meantime: “Good day.”")');
  t.strictSame(await findings(page), []);
  await page.click('text=Save mine instead');
  await page.waitForSelector('#turn-2 p:has-text("Good evening.")');
});

t.test('a person who gives up an edit that conflicts with another sees the other edit', async (t) => {
  const talk = await world.transcription(ann, { title: 'Given up', turns: TURNS, speakers: SPEAKERS });
  await page.goto(`${url}/#/t/${talk}`);
  await page.waitForSelector('h1:has-text("Given up")');
  await page.click('#turn-1 .edit');
  await page.fill('textarea', 'Hallo there.');
  t.equal(
    (await his.ask('PATCH', `/transcriptions/${talk}/text`, { version: 0, segments: [{ id: 1, text: 'Hello, there.' }] })).status,
    200,
  );
  await page.click('.turn-editor >> text=Save');
  await page.waitForSelector('[role=alert]:has-text("Bob has changed this turn")');
  await page.focus('textarea');
  await page.keyboard.press('Escape');
  await page.waitForSelector('#turn-1 p:has-text("Hello, there.")');
  await page.goto(`${url}/#/t/${id}`);
  await page.waitForSelector('h1:has-text("A call")');
});

t.test('a person corrects the title, assigns a turn to another speaker and merges two', async (t) => {
  await page.click('button[aria-label="Edit title"]');
  await page.fill('input[aria-label="Title"]', 'First call');
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:has-text("First call")');
  await page.focus('#turn-1 .edit');
  await page.keyboard.press('Enter');
  await page.waitForSelector('textarea:focus');
  await page.selectOption('select[aria-label="Speaker of the turn"]', 'speaker_2');
  await page.click('.turn-editor >> text=Save');
  await page.waitForSelector('.speakers li >> nth=1', { state: 'detached' });
  t.equal(await page.locator('.speakers li').count(), 1);
});

t.test('what others correct after the page was opened is not overwritten unseen: title, speaker, merged speakers', async (t) => {
  const talk = await world.transcription(ann, {
    ...{ title: 'A call', speakers: THREE },
    turns: [...TURNS, { start: 6, end: 8, speaker: 'speaker_3', text: 'Good night.' }],
  });
  let version = 0;
  const he = async (wanted: object) => {
    t.equal((await his.ask('PATCH', `/transcriptions/${talk}/text`, { version: version++, ...wanted })).status, 200);
  };
  await page.goto(`${url}/#/t/${talk}`);
  await page.waitForSelector('h1:text-is("A call")');
  await he({ title: 'Bridge' });
  await page.click('button[aria-label="Edit title"]');
  await page.fill('input[aria-label="Title"]', 'Our call');
  await page.keyboard.press('Enter');
  await page.waitForSelector('[role=alert]:has-text("Bob has just changed the title to “Bridge”; save again to replace it")');
  await page.click('.title >> text=Cancel');
  await page.waitForSelector('h1:has-text("Bridge")');
  await he({ segments: [{ id: 1, speaker_id: 'speaker_2' }] });
  await page.click('#turn-1 .edit');
  await page.selectOption('select[aria-label="Speaker of the turn"]', 'speaker_3');
  await page.click('.turn-editor >> text=Save');
  await page.waitForSelector('[role=alert]:has-text("Bob has changed this turn in the meantime, to another speaker")');
  await page.click('text=Keep theirs');
  await page.waitForSelector('summary:has-text("Corrections (2)")');
  await he({ segments: [{ id: 2, speaker_id: 'speaker_3' }] });
  await page.click('summary:has-text("Merge speakers")');
  await page.selectOption('select[name=speaker_id]', 'speaker_3');
  await page.selectOption('select[name=into]', 'speaker_2');
  await page.click('button:text-is("Merge")');
  await page.waitForSelector('[role=alert]:has-text("Bob has just changed who says what")');
  await page.waitForSelector('summary:has-text("Corrections (3)")');
  const { json } = await his.ask('GET', `/transcriptions/${talk}`);
  t.match(json, { title: 'Bridge', segments: [{ speaker_id: 'speaker_2' }, { speaker_id: 'speaker_3' }, { speaker_id: 'speaker_3' }] });
  t.strictSame(faults, []);
});

t.test('a page that waits for a report shows what others correct meanwhile; a title that stays is no correction', async (t) => {
  const talk = await world.transcription(ann, { filename: 'call-9.mp3', turns: TURNS, speakers: SPEAKERS });
  await world.report(talk, 'summary', 'queued');
  await page.goto(`${url}/#/t/${talk}`);
  await page.waitForSelector('h1:has-text("call-9.mp3")');
  await page.click('button[aria-label="Edit title"]');
  await page.keyboard.press('Enter');
  await page.waitForSelector('button[aria-label="Edit title"]:focus');
  const body = { version: 0, segments: [{ id: 1, text: 'Hello, dear.' }] };
  t.equal((await his.ask('PATCH', `/transcriptions/${talk}/text`, body)).status, 200);
  await page.waitForSelector('#turn-1 p:has-text("Hello, dear.")');
  await page.waitForSelector('summary:has-text("Corrections (1)")');
  t.ok(await focusesAtOnce(page, '#turn-1 .edit', 'textarea'), 'the first key typed is in the text');
  await page.fill('textarea', 'Hello!');
  await page.click('.turn-editor >> text=Save');
  await page.waitForSelector('summary:has-text("Corrections (2)")');
  t.strictSame(faults, []);
});

t.test('a name given while the page is reloading its transcript stays, though the reload shows the state before', async (t) => {
  const talk = await world.transcription(ann, { title: 'Reloaded', turns: TURNS, speakers: SPEAKERS });
  const report = await world.report(talk, 'summary', 'queued');
  await page.goto(`${url}/#/t/${talk}`);
  await page.waitForSelector('h1:has-text("Reloaded")');
  let release = () => {};
  const renamed = new Promise<void>((resolve) => {
    release = resolve;
  });
  const place = `**/v1/app/transcriptions/${talk}`;
  const held = new Promise<void>((reached) => {
    page.route(place, async (route) => {
      const response = await route.fetch();
      if (/"INTERNAL_ERROR"/.test(await response.text())) {
        reached();
        await renamed;
      }
      await route.fulfill({ response });
    });
  });
  await api.db.query('*', `update reports set status = 'failed', error_code = 'INTERNAL_ERROR' where id = ?`, [report]);
  await held; // the last reload
  await page.click('.speaker >> nth=0');
  await page.fill('input[aria-label="Speaker name"]', 'Dorothy');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.turn b:has-text("Dorothy")');
  const reload = page.waitForResponse(place);
  release();
  await reload;
  await page.waitForTimeout(500); // what the response changes would be visible
  t.equal(await page.locator('.turn b:has-text("Dorothy")').count(), 1);
  await page.unrouteAll({ behavior: 'wait' }); // on a busy machine, another reload may be held
  t.strictSame(faults, []);
});

t.test('what is typed into a turn stays while other turns are looked at', async (t) => {
  const many = Array.from({ length: 200 }, (_, at) => ({ start: at * 3, end: at * 3 + 2, speaker: 'speaker_1', text: `Turn ${at}.` }));
  await page.goto(`${url}/#/t/${await world.transcription(ann, { title: 'Long', turns: many, speakers: SPEAKERS })}`);
  await page.waitForSelector('h1:has-text("Long")');
  await page.click('#turn-1 .edit');
  await page.fill('textarea', 'Typed.');
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await page.waitForSelector('#turn-200');
  await page.waitForSelector('#turn-11', { state: 'detached' });
  t.equal(await page.inputValue('textarea'), 'Typed.');
  await page.evaluate(() => scrollTo(0, 0));
  await page.click('.turn-editor >> text=Save');
  await page.waitForSelector('#turn-1 p:has-text("Typed.")');
  await page.goto(`${url}/#/t/${id}`);
  await page.waitForSelector('h1:has-text("First call")');
  t.strictSame(faults, []);
});

t.test('a person sees who corrected what, and undoes it', async (t) => {
  await page.click('summary:has-text("Corrections")');
  t.match(await page.textContent('.corrections'), /Bob.*Good day\./s);
  t.strictSame(await findings(page), []);
  await shot(page, 'corrections');
  await page.click('.corrections li:has-text("Speaker") >> text=Undo');
  await page.waitForSelector('.speakers li >> nth=1');
  await page.click('.corrections li:has-text("title") >> text=Undo');
  await page.waitForSelector('h1:has-text("A call")');
  await page.click('summary:has-text("Merge speakers")');
  await page.selectOption('select[name=speaker_id]', 'speaker_2');
  await page.selectOption('select[name=into]', 'speaker_1');
  await page.click('button:text-is("Merge")');
  await page.waitForSelector('.speakers li >> nth=1', { state: 'detached' });
  t.strictSame(faults, []);
});

t.test('a person who may not edit sees no buttons for it, also on a phone', async (t) => {
  const reader = await world.member(workspace, { name: 'Rita' });
  const project = await world.project(workspace, 'Sales');
  await world.join(project, reader, 'viewer');
  const shared = await world.transcription(ann, { projectId: project, turns: TURNS, speakers: SPEAKERS });
  const phone = await browser.newContext({ viewport: { width: 390, height: 800 } });
  const other = await phone.newPage();
  await signIn(other, url, (await world.key(reader)).key);
  await other.goto(`${url}/#/t/${shared}`);
  await other.waitForSelector('.turn');
  t.equal(await other.locator('.edit, button[aria-label="Edit title"]').count(), 0);
  await phone.close();
});

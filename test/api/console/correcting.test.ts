import t from 'tap';
import { faultsOf, findings, openConsole, shot, signIn } from '../../support/browser.ts';
import { visit } from '../../support/console.ts';
import { needPrograms } from '../../support/programs.ts';
import { SPEAKERS } from '../../support/world.ts';

const programs = needPrograms(t, 'chromium');
const api = await openConsole(t, programs.chromium);
const { world, url, ann, key, browser, workspace } = api;
const bob = await world.member(workspace, { name: 'Bob', role: 'owner' });
const his = await visit(api, await world.key(bob));
const TURNS = [
  { start: 0, end: 2, speaker: 'speaker_1', text: 'Helo there.' },
  { start: 3, end: 5, speaker: 'speaker_2', text: 'Good morning.' },
];
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

import { readFileSync } from 'node:fs';
import t from 'tap';
import { faultsOf, openConsole, signIn } from '../../support/console/browser.ts';
import { visit } from '../../support/console/console.ts';
import { SPEAKERS } from '../../support/databases/world.ts';
import { needPrograms } from '../../support/processes/programs.ts';

const programs = needPrograms(t, 'chromium');
const console_ = await openConsole(t, programs.chromium);
const { world, url, ann, key, browser, workspace, call } = console_;
const turns = (text: string) => [{ start: 3, end: 5, speaker: 'speaker_1', text }];

t.test('documents() returns files named after the title, to anyone who may see the transcript', async (t) => {
  const [hers, other] = [await visit(console_, { key }), await world.member(workspace, { name: 'Bob' })];
  const bob = await visit(console_, await world.key(other));
  const id = await world.transcription(ann, { title: 'Überblick.mp3', turns: turns('Hello.'), speakers: SPEAKERS });
  const word = await hers.ask('GET', `/transcriptions/${id}/documents/docx?times=true`);
  t.match(word, {
    status: 200,
    headers: {
      'content-type': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      'content-disposition': /filename\*=UTF-8''%C3%9Cberblick\.docx$/,
    },
  });
  t.equal(word.bytes.subarray(0, 2).toString(), 'PK');
  const pdf = await hers.ask('GET', `/transcriptions/${id}/documents/pdf`);
  t.match(pdf, { status: 200, headers: { 'content-type': 'application/pdf' } });
  t.match(pdf.bytes.subarray(0, 5).toString(), '%PDF-');
  for (const [who, path, status] of [
    [bob, `${id}/documents/pdf`, 404],
    [hers, `${id}/documents/odt`, 404],
    [hers, 'nothing/documents/pdf', 404],
    [hers, `${id}/documents/pdf?times=yes`, 422],
  ] as const)
    t.equal((await who.ask('GET', `/transcriptions/${path}`)).status, status, path);
  t.equal((await call(key, 'GET', `/v1/app/transcriptions/${id}/documents/pdf`)).status, 401, 'requires a session instead of a key');
});

t.test('documents() keeps the process responsive during the layout of a 10-hour transcript', async (t) => {
  const turns = Array.from({ length: 6_000 }, (_, i) => ({
    ...{ start: i * 6, end: i * 6 + 5.5, speaker: `speaker_${(i % 2) + 1}` },
    text: 'we should look at the delivery date again because the supplier turns that parts will not arrive before March.',
  }));
  const id = await world.transcription(ann, { title: 'A conference', duration: 36_000, turns, speakers: SPEAKERS });
  const visitor = await visit(console_, { key });
  let done = false;
  const made = visitor.ask('GET', `/transcriptions/${id}/documents/pdf?times=true`).finally(() => {
    done = true;
  });
  let answers = 0;
  while (!done) {
    t.equal((await visitor.ask('GET', '/session')).status, 200);
    if (!done) answers += 1;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { status, bytes } = await made;
  t.equal(status, 200);
  t.ok(answers >= 5, `${answers} requests were answered during the layout`);
  t.ok((bytes.toString('latin1').match(/\/Type \/Page\b/g) ?? []).length > 100, 'the document is complete');
  t.comment(`${answers} requests answered during the layout, ${bytes.length} bytes`);
});

t.test('a person downloads a Word document and a PDF from the export menu, with times or without', async (t) => {
  const id = await world.transcription(ann, { title: 'Board meeting', turns: turns('Hello.'), speakers: SPEAKERS });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const faults = faultsOf(page);
  await signIn(page, url, key);
  await page.goto(`${url}/#/t/${id}`);
  await page.waitForSelector('.turn');
  for (const [format, magic] of [
    ['docx', 'PK'],
    ['pdf', '%P'],
  ] as const) {
    await page.click('summary:has-text("Export")');
    if (format === 'pdf') await page.uncheck('text=Times in Word and PDF');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`.choice:has-text(".${format}")`)]);
    t.equal(download.suggestedFilename(), `Board meeting.${format}`);
    t.match(download.url(), `times=${format === 'docx'}`);
    t.equal(
      readFileSync(await download.path())
        .subarray(0, 2)
        .toString(),
      magic,
    );
  }
  t.strictSame(faults, []);
  await page.close();
});

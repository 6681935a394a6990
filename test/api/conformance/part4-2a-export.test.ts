import t from 'tap';
import { parse } from 'yaml';
import { type Entry, fromBuffer, type ZipFile } from 'yauzl';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';

const api = await testApi(t);
const { world } = api;
const workspace = await world.workspace();
const anna = await world.member(workspace, { role: 'owner' });
const { key } = await world.key(anna);
const get = (id: string, query = '') => api.call(key, 'GET', `/v1/transcriptions/${id}/export${query}`);
const bulk = (body: unknown) => api.call(key, 'POST', '/v1/transcriptions/export', { body });
const ABSENT = '11111111-1111-1111-1111-111111111111';

/** Names and contents of an archive, by an independent reader that checks sizes and checksums. */
async function unzip(bytes: Buffer): Promise<{ name: string; text: string; flags: number }[]> {
  const zip = await new Promise<ZipFile>((resolve, reject) =>
    fromBuffer(bytes, { lazyEntries: true }, (error, file) => (error ? reject(error) : resolve(file!))),
  );
  const files: { name: string; text: string; flags: number }[] = [];
  return new Promise((resolve, reject) => {
    zip.on('entry', (entry: Entry) => {
      zip.openReadStream(entry, async (error, stream) => {
        if (error) return reject(error);
        const text = Buffer.concat(await stream!.toArray()).toString();
        files.push({ name: entry.fileName, text, flags: entry.generalPurposeBitFlag });
        zip.readEntry();
      });
    });
    zip.on('end', () => resolve(files));
    zip.on('error', reject);
    zip.readEntry();
  });
}

t.test('export: md by default, with byte-order mark, YAML in the published order, sections in the published order', async (t) => {
  const id = await world.transcription(anna, {
    filename: 'Call: "A" № 1.mp3',
    title: 'A talk: "prices" #1\u0085\u2028---',
    summary: 'They spoke.\n# Not a heading\nTitle\n===',
    topics: ['Price', 'a, b]'],
    language: 'en',
    duration: 3_725.9,
  });
  await world.report(id, 'summary', 'completed', 'All good.\n## Sub');
  await world.report(id, 'tasks', 'failed');
  const { status, headers, bytes, text } = await get(id);
  t.equal(status, 200);
  t.equal(headers['content-type'], 'text/markdown; charset=utf-8');
  t.strictSame([...bytes.subarray(0, 6)], [0xef, 0xbb, 0xbf, 0x2d, 0x2d, 0x2d]);
  const [, front, body] = /^\ufeff---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text)!;
  const data = parse(front!);
  t.strictSame(Object.keys(data), ['title', 'date', 'language', 'duration', 'speakers', 'topics', 'source']);
  t.match(data, {
    title: 'A talk: "prices" #1\u0085\u2028---',
    date: /^\d{4}-\d\d-\d\dT.*Z$/,
    language: 'en',
    duration: '1:02:05',
    speakers: ['Speaker 1', 'Speaker 2'],
    topics: ['Price', 'a, b]'],
    source: 'Call: "A" № 1.mp3',
  });
  t.strictSame(body!.match(/^(#{1,6} .*|.*\n(=+|-+))$/gm), ['# A talk: "prices" #1 ---', '## Summary', '## summary', '## Transcript']);
  t.match(body, /\n## Summary\n\nThey spoke\.\n\\# Not a heading\nTitle\n\\===\n/);
  t.ok(body!.includes('[00:00] Speaker 1: Hello there.'));
});

t.test('export: an unfinished transcription is exported with what exists', async (t) => {
  const id = await world.transcription(anna, { status: 'failed', errorCode: 'FILE_CORRUPTED', filename: 'x.mp3' });
  const { status, text } = await get(id);
  t.equal(status, 200);
  t.match(parse(text.split('---\n')[1]!), { language: null, duration: null, speakers: [], topics: [] });
  t.match(text, /# x\.mp3\n\n## Summary\n\n## Transcript\n$/);
  t.equal((await get(id, '?format=txt')).text, '\ufeff');
});

t.test('export: txt is text with a byte-order mark; json is the Get body, byte for byte, without one', async (t) => {
  const id = await world.transcription(anna, { metadata: '{"n": 1.0}' });
  const record = await api.call(key, 'GET', `/v1/transcriptions/${id}`);
  const txt = await get(id, '?format=txt');
  t.equal(txt.headers['content-type'], 'text/plain; charset=utf-8');
  t.equal(txt.text, `\ufeff${record.json.text}`);
  const json = await get(id, '?format=json');
  t.equal(json.headers['content-type'], 'application/json; charset=utf-8');
  t.strictSame(json.bytes, record.bytes);
});

t.test('export: the file is named after the title, without a known media extension', async (t) => {
  const named = async (title: string) =>
    (await get(await world.transcription(anna, { title }), '?format=txt')).headers['content-disposition'];
  t.equal(await named('Call.mp3'), `attachment; filename="Call.txt"; filename*=UTF-8''Call.txt`);
  t.equal(await named('a "b" \\ c.v2'), `attachment; filename="a _b_ - c.v2.txt"; filename*=UTF-8''a%20%22b%22%20-%20c.v2.txt`);
  t.match(
    await named('Звонок.ogg'),
    /^attachment; filename="[\x20-\x7e]+\.txt"; filename\*=UTF-8''%D0%97%D0%B2%D0%BE%D0%BD%D0%BE%D0%BA\.txt$/,
  );
  t.equal(await named('..mp3'), `attachment; filename="transcription.txt"; filename*=UTF-8''transcription.txt`);
});

t.test('export: other formats are 422, absent ids 404', async (t) => {
  const id = await world.transcription(anna);
  for (const query of ['?format=srt', '?format=', '?format=MD', '?format=md&format=md'])
    t.match(await get(id, query), provokes('GET /transcriptions/{id}/export', 422, 'validation_error'));
  t.match(await get(ABSENT), provokes('GET /transcriptions/{id}/export', 404, null));
  t.match(await get(ABSENT, '?format=json'), { status: 404 });
});

t.test('bulk export: one file each, unique names, unknown ids skipped, duplicates once', async (t) => {
  const ids = [];
  for (const title of ['A', 'a', 'A (2)', 'Я.mp3', 'con', '../../etc/passwd', 'Q: who?', 'x'.repeat(255)])
    ids.push(await world.transcription(anna, { title, filename: 'f.mp3' }));
  const stranger = await world.member(await world.workspace(), { role: 'owner' });
  const foreign = await world.transcription(stranger);
  const { status, headers, bytes } = await bulk({ ids: [...ids, ids[0]!.toUpperCase(), ABSENT, foreign] });
  t.equal(status, 200);
  t.equal(headers['content-type'], 'application/zip');
  t.equal(headers['content-disposition'], 'attachment; filename="transcriptions.zip"');
  const files = await unzip(bytes);
  t.strictSame(
    files.map(({ name }) => name),
    ['A.md', 'a (3).md', 'A (2).md', 'Я.md', '_con.md', '-.-etc-passwd.md', 'Q- who?.md', `${'x'.repeat(230)}.md`],
  );
  for (const { text, flags } of files) {
    t.ok(text.startsWith('\ufeff---\n'));
    t.ok(flags & 0x800, 'flagged UTF-8');
  }
});

t.test('bulk export: json and txt are the same as in the single export', async (t) => {
  const id = await world.transcription(anna, { metadata: '{"n": 1.0}', title: 'One' });
  for (const format of ['json', 'txt', 'md']) {
    const [file] = await unzip((await bulk({ ids: [id], format })).bytes);
    t.equal(file!.name, `One.${format}`);
    t.equal(file!.text, (await get(id, `?format=${format}`)).text);
  }
});

t.test('bulk export: nothing found gives a valid empty archive of 22 bytes', async (t) => {
  const { status, bytes } = await bulk({ ids: [ABSENT] });
  t.match({ status, length: bytes.length }, { status: 200, length: 22 });
  t.strictSame(await unzip(bytes), []);
});

t.test('bulk export: 1 to 100 ids, counted before duplicates collapse; a bad id, format or field is 422', async (t) => {
  t.equal((await bulk({ ids: Array(100).fill(ABSENT) })).status, 200);
  for (const body of [
    { ids: [] },
    { ids: Array(101).fill(ABSENT) },
    { ids: ['x'] },
    { ids: [ABSENT], format: 'pdf' },
    {},
    { ids: [ABSENT], all: true },
    '[',
  ])
    t.match(await bulk(body), provokes('POST /transcriptions/export', 422, 'validation_error'));
});

import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { guides } from '../../../api/openapi/guides.ts';
import { connectRaw } from '../../support/api/raw.ts';
import { excerpt } from '../../support/engine/engine.ts';
import { addTiny, TINY } from '../../support/engine/models.ts';
import { finish, LONGHAND, longhand, start } from '../../support/processes/processes.ts';
import { findProgram } from '../../support/processes/programs.ts';

// Every sample of the guides, exactly as printed, against the whole product.
const home = mkdtempSync(path.join(tmpdir(), 'longhand-guides-'));
const place = path.join(home, 'reader');
mkdirSync(path.join(place, 'recordings'), { recursive: true });
mkdirSync(path.join(place, 'bin'));
symlinkSync(LONGHAND, path.join(place, 'bin', 'longhand'));
const talk = await excerpt(5);
for (const name of ['call.wav', 'recordings/a.wav']) writeFileSync(path.join(place, name), talk);
await addTiny(path.join(home, 'state')); // its text is the same for every recording
const running = start(t, LONGHAND, ['up'], {
  LONGHAND_HOME: path.join(home, 'state'),
  LONGHAND_MODEL: TINY,
  LONGHAND_THREADS: '1',
  PORT: '0',
});
t.teardown(async () => {
  await running.stop();
  rmSync(home, { recursive: true, force: true });
});
const [KEY] = await running.said(/lh_\w+/);
const [, BASE] = await running.said(/listening on (http:\S+)/);
const AUTHOR = (await ask('/v1/workspace/members')).items[0].email;
const env: Record<string, string> = {
  BASE: `${BASE}/v1`,
  KEY: KEY!,
  AUTHOR,
  XDG_STATE_HOME: home,
  PATH: `${path.join(place, 'bin')}:${process.env.PATH}`,
};

async function ask(at: string) {
  return (await fetch(BASE + at, { headers: { authorization: `Bearer ${KEY}` } })).json();
}

const UNKNOWN = /Unknown speaker: .*quick brown fox/i;

/** Code blocks of a guide with this mark after their language. */
function samples(name: string, mark: string): string[] {
  const { text } = guides().find((guide) => guide.name === name)!;
  return [...text.matchAll(new RegExp(`^\`\`\`${mark}\\n([\\s\\S]*?)\\n\`\`\`$`, 'gm'))].map(([, code]) => code!);
}

/** The same sample for an upload without diarization. */
function undiarized(code: string): string {
  return code.replace('?language=auto', '?language=auto&diarize=false').replace(/\b(js|py|go)-/, 'undiarized-$1-');
}

/** Runs a sample in the reader's folder until it exits. Returns its output. */
async function run(program: string, file: string, code: string, ...args: string[]): Promise<string> {
  writeFileSync(path.join(place, file), code);
  const { code: end, stdout, stderr } = await finish(program, [...args, file], env, place);
  if (end !== 0) throw new Error(`${file} ended with ${end}:\n${stdout}${stderr}`);
  return stdout;
}

t.test('the curl guide uploads, waits and reads', async (t) => {
  t.match(await run('sh', 'guide.sh', samples('curl', 'sh run').join('\n'), '-eu'), /quick brown fox/i);
});

t.test('the JavaScript guide prints who said what', async (t) => {
  const [code] = samples('javascript', 'js run');
  t.match(await run(process.execPath, 'guide.mjs', code!), /\[\d+\.\d\] speaker_1: .*quick brown fox/i);
  t.match(await run(process.execPath, 'guide.mjs', undiarized(code!)), UNKNOWN);
});

const python = findProgram('python3');
t.test('the Python guide prints who said what', { skip: !python && 'python3 is not installed' }, async (t) => {
  const [code] = samples('python', 'python run');
  t.match(await run(python!, 'guide.py', code!), /completed[\s\S]*speaker_1: .*quick brown fox/i);
  t.match(await run(python!, 'guide.py', undiarized(code!)), UNKNOWN);
  const installed = (await finish(python!, ['-c', 'import requests'])).code === 0;
  if (installed) t.match(await run(python!, 'short.py', samples('python', 'python requests')[0]!), /^[\w-]{36} queued/);
});

const go = findProgram('go');
t.test('the Go guide prints who said what', { skip: !go && 'go is not installed' }, async (t) => {
  Object.assign(env, { CGO_ENABLED: '0', GOFLAGS: '"-gcflags=all=-N -l"' }); // Go's library as scripts/testing.mjs compiled it
  const [code] = samples('go', 'go run');
  t.match(await run(go!, 'guide.go', code!, 'run'), /completed[\s\S]*speaker_1: .*quick brown fox/i);
  t.match(await run(go!, 'guide.go', undiarized(code!), 'run'), UNKNOWN);
});

const java = findProgram('java');
t.test('the Java guide prints the text', { skip: !java && 'java is not installed' }, async (t) => {
  t.match(await run(java!, 'Transcribe.java', samples('java', 'java run')[0]!), /completed[\s\S]*quick brown fox/i);
});

const php = findProgram('php');
t.test('the PHP guide prints the text', { skip: !php && 'php is not installed' }, async (t) => {
  t.match(await run(php!, 'guide.php', samples('php', 'php run')[0]!), /completed[\s\S]*quick brown fox/i);
});

/** A request as 1C:Enterprise sends it: URL and headers of the guide with the variables replaced, parsed line by line. */
async function fromOneC(nth: number, values: Record<string, string>, body?: Buffer) {
  const [, code] = /```bsl\n([\s\S]*?)```/.exec(guides().find(({ name }) => name === '1c')!.text)!;
  const part = code!.split(/^КонецФункции$/m)[nth]!;
  const fill = (expression: string) =>
    expression
      .split(' + ')
      .map((piece) => /^"(.*)"$/.exec(piece)?.[1] ?? values[piece] ?? t.fail(`the guide uses ${piece}`))
      .join('');
  const target = fill(/Новый HTTPЗапрос\((.*)\);/.exec(part)![1]!);
  const headers = [...part.matchAll(/Заголовки\.Вставить\("([^"]+)", (.*)\);/g)].map(([, name, value]) => `${name}: ${fill(value!)}`);
  const length = body ? [`Content-Length: ${body.length}`] : [];
  const connection = await connectRaw(BASE!);
  const lines = [
    `${body ? 'POST' : 'GET'} ${target} HTTP/1.1`,
    `Host: ${new URL(BASE!).host}`,
    'User-Agent: 1C+Enterprise/8.3',
    ...headers,
  ];
  for (const line of [...lines, ...length, '']) {
    connection.write(`${line}\r\n`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (let at = 0; body && at < body.length; at += 65_536) connection.write(body.subarray(at, at + 65_536));
  const answer = await connection.answer(20_000);
  connection.end();
  return answer;
}

t.test('the 1C guide uploads under a Cyrillic name and requests the text', async (t) => {
  const [name, once] = [encodeURIComponent('Звонок клиенту.wav'), '"6e1f0b1c-1c1c-4c1c-8c1c-0123456789ab"'];
  const values = { Ключ: KEY!, Имя: name, 'Строка(Новый УникальныйИдентификатор)': once.slice(1, -1) };
  const sent = readFileSync(path.join(place, 'call.wav'));
  const made = await fromOneC(0, values, sent);
  t.equal(made.status, 201);
  t.match(await fromOneC(0, values, sent), { status: 200, json: { uuid: made.json.uuid } }, 'a retry returns the same transcription');
  let answer = await fromOneC(1, { Ключ: KEY!, Идентификатор: made.json.uuid });
  while (['queued', 'processing'].includes(answer.json.status)) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    answer = await fromOneC(1, { Ключ: KEY!, Идентификатор: made.json.uuid });
  }
  t.match(answer, { status: 200, json: { status: 'completed', title: 'Звонок клиенту.wav', text: /quick brown fox/i } });
});

t.test('the CRM recipe finds a call by its deal, with its checklist', async (t) => {
  const [upload, list] = samples('crm', 'sh run');
  const { uuid } = JSON.parse(await run('sh', 'deal.sh', upload!, '-eu'));
  let record = await ask(`/v1/transcriptions/${uuid}`);
  while (record.status !== 'completed' || record.prompt_results[0].status !== 'completed') {
    if (record.status === 'failed' || record.prompt_results[0].status === 'failed') throw new Error(JSON.stringify(record));
    await new Promise((resolve) => setTimeout(resolve, 200));
    record = await ask(`/v1/transcriptions/${uuid}`);
  }
  t.match(record, { external_id: 'deal-4711', author: { email: AUTHOR }, metadata: { pipeline: 'sales', call: { direction: 'in' } } });
  t.match(record.prompt_results, [{ slug: 'call-quality-checklist', text: String }]);
  t.match(JSON.parse(await run('sh', 'list.sh', list!, '-eu')), { total: 1, items: [{ id: uuid, external_id: 'deal-4711' }] });
});

t.test('the telephony recipe sends a folder, and each file only once', async (t) => {
  const [code] = samples('telephony', 'sh run');
  const first = JSON.parse(await run('sh', 'folder.sh', code!, '-eu'));
  t.match(first, { id: String, status: 'queued' });
  t.equal(JSON.parse(await run('sh', 'folder.sh', code!, '-eu')).id, first.id);
  t.equal((await longhand(['upload', '--help'])).code, 0);
});

t.test('the webhook samples distinguish a signature from a forgery', async (t) => {
  const [body, time] = ['{"event":"transcription.completed"}', 1_700_000_000];
  const signed = createHmac('sha256', 'whsec_x').update(`${time}.${body}`).digest('hex');
  const file = path.join(place, 'verify.mjs');
  writeFileSync(file, samples('webhooks', 'js verify')[0]!);
  const { isOurs } = await import(pathToFileURL(file).href);
  const headers = { 'longhand-timestamp': String(time), 'longhand-signature': signed };
  t.equal(isOurs('whsec_x', headers, body, time + 5), true);
  t.equal(isOurs('whsec_x', headers, `${body} `, time + 5), false);
  t.equal(isOurs('whsec_y', headers, body, time + 5), false);
  t.equal(isOurs('whsec_x', headers, body, time + 3600), false, 'an old one');
  t.equal(isOurs('whsec_x', {}, body, time), false);
  t.equal(isOurs('whsec_x', { ...headers, 'longhand-signature': 'é'.repeat(64) }, body, time), false, 'two-byte characters');
  if (!python) return;
  const check = `h={"Longhand-Timestamp":"${time}","Longhand-Signature":"${signed}"}\nb='${body}'\nprint(is_ours("whsec_x",h,b,${time + 5}), is_ours("whsec_x",h,b+" ",${time + 5}), is_ours("whsec_x",h,b,${time + 3600}), is_ours("whsec_x",{**h,"Longhand-Signature":"\\u00e9"*64},b,${time}))`;
  t.match(await run(python, 'verify.py', `${samples('webhooks', 'python verify')[0]}\n${check}\n`), /^True False False False/);
});

t.test('the configuration of an assistant is JSON and names the endpoint', async (t) => {
  t.match(JSON.parse(samples('assistants', 'json run')[0]!), { mcpServers: { longhand: { type: 'http', url: /\/mcp$/ } } });
});

/* Models by language in the service: uploads through the API, and an engine that is killed. */
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { send } from '../../support/api/uploads.ts';
import { addDigits, DIGITS, join16k, recordings, SAID } from '../../support/engine/recordings.ts';
import type { Running } from '../../support/processes/processes.ts';
import { type Api, openService } from '../../support/processes/service.ts';

const service = await openService(t);
await addDigits(service.home);
const MODELS = { LONGHAND_MODELS: `en=${DIGITS},*=whisper-base`, LONGHAND_MODEL: '' };
const api = await service.api(MODELS);
const folder = join(service.home, 'recordings');
mkdirSync(folder);
const SPANISH = ['es_fleurs-test_000.ogg', 'es_fleurs-test_003.ogg', 'es_fleurs-test_006.ogg', 'es_fleurs-test_009.ogg'];

async function upload(api: Api, wav: Buffer, name: string): Promise<string> {
  const wish = { 'X-External-Id': name, 'Content-Length': wav.length, 'Content-Disposition': 'attachment; filename="call.wav"' };
  const { status, body } = await send(api.url, service.key, wish, '', wav);
  t.equal(status, 201, body);
  return (JSON.parse(body) as { uuid: string }).uuid;
}

interface Record {
  language: string;
  segments: { text: string }[];
}

/** The record of a finished transcription from the API. */
async function record(id: string): Promise<Record & { text: string }> {
  await service.until(id, ({ status }) => status === 'completed' || status === 'failed');
  const found = (await service.record(api, id)) as unknown as Record;
  return { ...found, text: found.segments.map(({ text }) => text).join(' ') };
}

/** The log line with the models that an engine used. */
function told({ output }: Running, id: string): { model: string; language: string }[] {
  const log = `${output.stdout}\n${output.stderr}`;
  const line = log.split('\n').find((line) => line.includes('recognised by several models') && line.includes(id));
  return (JSON.parse(line ?? '{"stretches":[]}') as { stretches: { model: string; language: string }[] }).stretches;
}

t.test('the engine does not start with a model that is not installed, and lists the installed ones', async (t) => {
  await t.rejects(
    service.engine({ ...MODELS, LONGHAND_MODELS: 'ru=gigaam-v3' }),
    /Cannot find the model gigaam-v3: found whisper-base, digits;/,
  );
  await t.rejects(
    service.engine({ ...MODELS, LONGHAND_MODELS: `ru,en=${DIGITS}` }),
    /Cannot use digits for ru: it recognises en; correct LONGHAND_MODELS/,
  );
  await t.rejects(
    service.engine({ ...MODELS, LONGHAND_MODELS: `en=whisper-base,*=${DIGITS}` }),
    /Cannot choose models by language: digits does not detect languages; set \* in LONGHAND_MODELS/,
  );
});

t.test('the engine transcribes held-out digits through an upload with the model for their language', async (t) => {
  const engine = await service.engine(MODELS);
  const [m5] = recordings('m5.ogg');
  const id = await upload(api, await readFile(await join16k([m5!], join(folder, 'call.wav'))), 'held-out');
  const { text, language } = await record(id);
  t.equal(text, SAID['m5.ogg']);
  t.equal(language, 'en');
  t.match(told(engine, id), [{ model: DIGITS, language: 'en' }]);
  const answer = JSON.stringify(await service.record(api, id));
  t.notMatch(answer, DIGITS, 'the API does not reveal the model');

  t.test('a killed engine is succeeded by one that resumes with the same models', async (t) => {
    const digits = ['m5.ogg', 'm5.ogg', 'm5.ogg', 'm5.ogg'] as const;
    const wav = await readFile(await join16k(recordings(...digits, ...SPANISH), join(folder, 'two.wav')));
    const id = await upload(api, wav, 'two');
    const saved = () =>
      service.db.query('*', `select name from checkpoints where transcription_id = ?::uuid and name like 'recognised-%'`, [id]);
    while (!(await saved()).length) await sleep(20); // the digits: Spanish takes longer
    await engine.stop('SIGKILL');
    t.equal((await service.row<{ status: string }>('transcriptions', id))!.status, 'processing', 'it is killed while it holds the lease');
    await service.expire('transcriptions', id);
    const heir = await service.engine(MODELS);
    const { text } = await record(id);
    t.match(text, new RegExp(`^${digits.map((name) => SAID[name]).join(' ')} Se recomienda .* civilización`));
    const stretches = told(heir, id);
    t.match(stretches[0], { model: DIGITS, language: 'en' });
    t.match(stretches.at(-1), { model: 'whisper-base', language: 'es' });
  });
});

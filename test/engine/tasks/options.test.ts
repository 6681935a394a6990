/* Everything that an upload can request, and the longest duration, reach a real engine. */
import t from 'tap';
import type { Transcription } from '../../../api/contract/transcription.ts';
import { type Headers, send } from '../../support/api/uploads.ts';
import { conversation, excerpt, type TranscriptionRow } from '../../support/engine/engine.ts';
import { openService } from '../../support/processes/service.ts';

const service = await openService(t);
const [api, engine] = await Promise.all([service.api(), service.engine({ LONGHAND_LIMIT_MAX_DURATION_S: '60' })]);
const wav = await conversation(1);

interface Wish {
  query?: string;
  headers?: Headers;
  /** Vocabulary of the workspace. */
  shared?: string;
  /** Default: the whole recording. */
  bytes?: Buffer;
}

/** The record of two-speakers.wav, transcribed as requested. */
async function transcribed({ query = '', headers = {}, shared, bytes = wav }: Wish): Promise<Transcription> {
  const sealed =
    shared === undefined ? null : await service.vault.seal(service.workspaceId, `workspaces|${service.workspaceId}|vocabulary`, shared);
  await service.db.query('*', 'update workspaces set vocabulary_sealed = ? where id = ?', [sealed, service.workspaceId]);
  const named = { 'Content-Disposition': 'attachment; filename="call.wav"' };
  const { uuid } = (await send(api.url, service.key, { ...named, ...headers }, query, bytes)).json as { uuid: string };
  await service.until(uuid, ({ status }) => status === 'completed');
  return (await service.record(api, uuid)) as unknown as Transcription;
}

const speakersOf = ({ segments }: Transcription) => new Set(segments.map(({ speaker_id }) => speaker_id)).size;

const WISHES: [string, Wish, (record: Transcription) => boolean][] = [
  [
    'nothing: its language and its speakers are detected',
    {},
    (record) => record.language === 'en' && speakersOf(record) === 2 && !/shop-boy/.test(record.text!),
  ],
  ['a language', { query: '?language=de', bytes: await excerpt(5) }, ({ language, text }) => language === 'de' && /\bich\b/i.test(text!)],
  [
    'no speakers',
    { query: '?diarize=false' },
    ({ speakers, segments }) => !speakers.length && segments.every((one) => one.speaker_id === null),
  ],
  ['a number of speakers', { query: '?speakers_count=1' }, (record) => record.speakers.length === 1 && speakersOf(record) === 1],
  ['a vocabulary', { headers: { 'X-Vocabulary': 'shop-boy' } }, ({ text }) => /shop-boy/.test(text!)],
  ['the vocabulary of its workspace', { shared: 'shop-boy' }, ({ text }) => /shop-boy/.test(text!)],
];

for (const [name, wish, isGranted] of WISHES) {
  t.test(`engine transcribes an upload that requests ${name}`, async (t) => {
    const record = await transcribed(wish);
    t.ok(isGranted(record), JSON.stringify({ language: record.language, speakers: record.speakers, text: record.text }));
  });
}

/** Queues `times` 20 s of audio that were measured as 20 s. Returns the row once it has ended. */
async function measuredWrongly(workspaceId: string, times: number): Promise<TranscriptionRow & { id: string }> {
  const id = await service.upload(workspaceId, await conversation(times), { seconds: 20 });
  return service.until(id, ({ status }) => status !== 'queued' && status !== 'processing');
}

t.test('engine stops at the longest duration, even if a recording was measured as shorter', async (t) => {
  t.match(await measuredWrongly(service.workspaceId, 4), { status: 'failed', error_code: 'RECORDING_TOO_LONG' });
});

t.test('engine stops where the balance does not cover what is decoded beyond the measured duration', async (t) => {
  const { id, status } = await measuredWrongly(await service.workspace({ minutes: 0.5 }), 2);
  t.equal(status, 'insufficient_balance');
  t.notMatch(engine.output.stderr + engine.output.stdout, new RegExp(`"transcription":"${id}"[^\n]*"done"`), 'not at the end');
});

/* The official OpenAI JavaScript client against the whole service: real engine, real model. */
import { createReadStream, writeFileSync } from 'node:fs';
import path from 'node:path';
import OpenAI from 'openai';
import t from 'tap';
import { excerpt } from '../../support/engine/engine.ts';
import { ROOT } from '../../support/processes/processes.ts';
import { openService } from '../../support/processes/service.ts';

const RECORDING = path.join(ROOT, 'bench/data/two-speakers.wav');
const PHRASE = /account of himself/i;

t.test('the official client gets a response in every format, and the recording is an ordinary transcription', async (t) => {
  const service = await openService(t);
  const [api] = await Promise.all([service.api(), service.engine()]);
  const client = new OpenAI({ apiKey: service.key, baseURL: `${api.url}/v1`, maxRetries: 0 });
  const short = path.join(service.home, path.basename(RECORDING)); // for the formats in which neither words nor speakers matter
  writeFileSync(short, await excerpt(8));
  const ask = <F extends string>(response_format: F, more = {}, recording = short) =>
    client.audio.transcriptions.create({
      file: createReadStream(recording),
      model: 'whisper-1',
      response_format,
      ...more,
    } as never) as never;
  // biome-ignore lint/suspicious/noExplicitAny: results of the client are inspected
  const [json, text, srt, vtt, verbose, diarized]: any[] = await Promise.all([
    ask('json', { language: 'en', prompt: 'Longhand', temperature: 0 }),
    ask('text'),
    ask('srt'),
    ask('vtt'),
    ask('verbose_json', { timestamp_granularities: ['word', 'segment'] }, RECORDING),
    ask('diarized_json', { chunking_strategy: 'auto' }, RECORDING),
  ]);
  t.match(json, { text: PHRASE, usage: { type: 'duration' } });
  t.match(text, PHRASE);
  t.match(srt, /^1\r?\n00:00:\d\d,\d{3} --> /);
  t.match(vtt, /^WEBVTT/);
  t.match(verbose, { task: 'transcribe', language: 'english', text: PHRASE, duration: Number });
  t.ok(verbose.words.length > 10);
  for (const { word, start, end } of verbose.words) t.ok(word === word.trim() && start <= end, word);
  t.match(verbose.segments[0], { id: 0, start: Number, end: Number, text: String, tokens: [] });
  t.match(diarized.segments[0], { type: 'transcript.text.segment', speaker: 'A', text: String });
  t.ok(diarized.segments.some((segment: { speaker: string }) => segment.speaker === 'B'));
  const { items, total } = await (
    await fetch(`${api.url}/v1/transcriptions`, { headers: { authorization: `Bearer ${service.key}` } })
  ).json();
  t.equal(total, 6);
  t.match(items[0], { title: 'two-speakers.wav' });
  t.strictSame(service.spooled(), [], 'no recording is kept');
});

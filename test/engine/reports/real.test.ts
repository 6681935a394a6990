/*
 * The contract with a real server, the one at LLM_BASE_URL: `LLM_BASE_URL=http://localhost:11434/v1 LLM_MODEL=qwen3:4b npx tap
 * test/engine/reports/real.test.ts`. The quality of the model does not matter: a report is grounded in the transcript, or fails with an error code.
 */
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { talk, transcript } from '../../../bench/reports/talks.ts';
import { evidenceOf } from '../../../engine/reports/ground.ts';
import { openWriter, ReportError, type ReportTranscript, type Writer } from '../../../engine/reports/writer.ts';

const { LLM_BASE_URL: baseUrl, LLM_MODEL: model, LLM_API_KEY: apiKey, LLM_CONTEXT } = process.env;
t.setTimeout(baseUrl === undefined ? 30_000 : 3_600_000);
const never = new AbortController().signal;
setMaxListeners(0, never);
const OPTIONS = { skip: baseUrl === undefined && 'LLM_BASE_URL is not set', timeout: 3_600_000 };
const open = (): Writer =>
  openWriter({ baseUrl, model, apiKey, contextTokens: LLM_CONTEXT === undefined ? undefined : Number(LLM_CONTEXT) });
const request = (slug: string, prompt: string | null = null) => ({ slug, name: slug, prompt });
const ALLOWED = new Set(['LLM_INVALID_OUTPUT', 'LLM_REFUSED', 'TRANSCRIPT_TOO_LONG']);

/** Writes a report and checks that its quotations and times are those of the transcript. Null after an error that a weak model may cause. */
async function written(t: Test, writer: Writer, slug: string, given: ReportTranscript, prompt: string | null = null) {
  const report = await writer.write(request(slug, prompt), given, never).catch((error: unknown) => error);
  if (!(report instanceof Error)) {
    const { text, tokens } = report as Awaited<ReturnType<Writer['write']>>;
    const evidence = evidenceOf(given);
    for (const [, quote] of text.matchAll(/“([^”]{20,})”/g)) t.ok(evidence.find(quote!), `in the transcript: ${quote}`);
    for (const [, minutes, seconds] of text.matchAll(/\[(\d+):(\d\d), /g)) t.ok(evidence.spokenAt(Number(minutes) * 60 + Number(seconds)));
    t.ok(text.length > 0 && !/^#/m.test(text));
    t.ok(tokens!.input >= 0 && tokens!.output >= 0);
    return report as Awaited<ReturnType<Writer['write']>>;
  }
  t.ok(report instanceof ReportError && ALLOWED.has(report.code), `${slug}: ${report.message}`);
  return null;
}

t.test('a real server: reports are written or fail with an error code, several concurrently', OPTIONS, async (t) => {
  const writer = open();
  await Promise.all([
    written(t, writer, 'summary', talk('en-sales')),
    written(t, writer, 'tasks', talk('de-besprechung')),
    written(t, writer, 'quotes', talk('ru-prodazhi')),
    written(t, writer, 'own', talk('fr-vente'), 'Liste les prix qui ont été nommés.'),
  ]);
  const { calls, promptTokens, completionTokens, seconds } = writer.figures;
  t.ok((calls.ok ?? 0) + (calls.invalid ?? 0) > 0, `some calls got a response: ${JSON.stringify(calls)}`);
  t.notOk(calls.unavailable, 'no call was refused');
  t.ok(promptTokens > 0 && completionTokens > 0 && seconds > 0, 'the server counts tokens');
});

t.test('a real server: title, summary and topics; names only with evidence', OPTIONS, async (t) => {
  const given = talk('de-besprechung');
  const about = await open()
    .describe(given, never)
    .catch((error: unknown) => error);
  if (about instanceof Error) return t.ok(about instanceof ReportError && ALLOWED.has(about.code), about.message);
  const { title, summary, speakerNames } = about as Awaited<ReturnType<Writer['describe']>>;
  t.ok(title.length > 0 && title.length <= 120 && summary.length > 0);
  for (const { name, evidence } of speakerNames) t.ok(evidence.includes(name) && evidenceOf(given).find(evidence));
});

t.test('a real server: a talk longer than its context is read in parts', OPTIONS, async (t) => {
  const text = readFileSync(new URL('fixtures/en-sales.txt', import.meta.url), 'utf8');
  const hour = Array.from({ length: 25 }, (_, round) =>
    text.replace(/^\[(\d+):/gm, (_, minutes) => `[${String(Number(minutes) + round * 3).padStart(2, '0')}:`),
  );
  const writer = openWriter({ baseUrl, model, apiKey, contextTokens: 6000 });
  await written(t, writer, 'key-points', transcript('en', hour.join('\n')));
  const { calls } = writer.figures;
  t.ok(Object.values(calls).reduce((sum, count) => sum + count, 0) > 2, JSON.stringify(calls));
});

t.test('a real server: a context length set too high is corrected', OPTIONS, async (t) => {
  const long = transcript(
    'en',
    Array.from(
      { length: 4000 },
      (_, at) =>
        `[${String(Math.floor(at / 10)).padStart(2, '0')}:${String((at % 10) * 6).padStart(2, '0')}] Ann: Part ${at} of the wall needs paint.`,
    ).join('\n'),
  );
  const writer = openWriter({ baseUrl, model, apiKey, contextTokens: 1_000_000 });
  const report = await writer.write(request('summary'), long, AbortSignal.timeout(3_000_000)).catch((error: unknown) => error);
  t.ok(!(report instanceof Error) || (report instanceof ReportError && ALLOWED.has(report.code)), (report as Error).message);
});

t.test('a real server: a call is cancelled immediately, and the next one succeeds', OPTIONS, async (t) => {
  const writer = open();
  const stop = new AbortController();
  const writing = writer.write(request('article-draft'), talk('en-sales'), stop.signal);
  setTimeout(() => stop.abort(new Error('deleted')), 500);
  await t.rejects(writing, { message: 'deleted' });
  await written(t, writer, 'decisions', talk('es-soporte'));
});

t.test('a real server: an unknown model is reported', OPTIONS, async (t) => {
  const writer = openWriter({ baseUrl, apiKey, model: 'no-such-model-anywhere' });
  const report = await writer.write(request('summary'), talk('en-sales'), never).catch((error: unknown) => error);
  t.ok(!(report instanceof Error) || report instanceof ReportError, 'some servers fall back to the model they have');
});

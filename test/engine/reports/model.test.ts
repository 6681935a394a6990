import { once, setMaxListeners } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { talk } from '../../../bench/reports/talks.ts';
import type { GenerativeWriter } from '../../../engine/reports/generative.ts';
import { openWriter, type ReportError, type WriterSettings } from '../../../engine/reports/writer.ts';
import { type Answer, type Call, startLlm } from '../../support/servers/llm-server.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);
const summary = { slug: 'summary', name: 'Summary', prompt: null };
const good = {
  sections: [
    { heading: 'Summary', style: 'list', items: [{ text: 'They agreed on a pilot.', segment: 17, quote: 'three vehicles, four weeks' }] },
  ],
};

/** Writes one report against a server with these responses. Returns report or error, and the server. */
async function write(
  test: { teardown: (close: () => Promise<void>) => void },
  answers: (call: Call, index: number) => Answer,
  settings: WriterSettings = {},
  models?: unknown,
) {
  const server = await startLlm(answers, models);
  test.teardown(server.close);
  const writer = openWriter({ baseUrl: server.url, apiKey: 'sk-secret-key', backoffMilliseconds: 1, ...settings });
  const outcome = await writer.write(summary, talk('en-sales'), never).catch((error: ReportError) => error);
  return { server, outcome, writer, report: outcome as Awaited<ReturnType<GenerativeWriter['write']>>, error: outcome as ReportError };
}

t.test('write() prints sections with speaker and time of the segment that the model named', async (t) => {
  const { report, server, writer } = await write(t, () => ({ content: good }));
  t.equal(report.text, '**Summary**\n\n- They agreed on a pilot. — “three vehicles, four weeks” [02:07, Speaker 1]');
  t.equal(report.dropped, 0);
  t.ok(report.tokens!.input > 100 && report.tokens!.output > 10);
  t.equal(writer.name, 'test-model');
  t.equal(server.calls[0]!.headers.authorization, 'Bearer sk-secret-key');
  t.equal(server.calls[0]!.body.response_format!.type, 'json_schema');
  t.equal(server.calls[0]!.body.tools, undefined, 'the model gets no tools');
});

t.test('write() reads an answer that does not stream', async (t) => {
  const { report } = await write(t, () => ({ content: good, whole: true }));
  t.match(report.text, 'They agreed on a pilot.');
});

t.test('write() removes the thinking of a reasoning model', async (t) => {
  const thoughts = [
    '<think>The user wants {"sections": []}.</think>\n',
    'Hidden thoughts that began in the prompt</think>\n',
    '<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>',
  ];
  for (const thought of thoughts) {
    const { report } = await write(t, () => ({ content: `${thought}${JSON.stringify(good)}`, reasoning: 'secret thoughts' }));
    t.equal(report.text, '**Summary**\n\n- They agreed on a pilot. — “three vehicles, four weeks” [02:07, Speaker 1]');
  }
});

t.test('write() omits schema, stream options, temperature or max_tokens if the server rejects them', async (t) => {
  const { report, server } = await write(t, ({ body }) => {
    const refuse = (message: string) => ({ status: 400, error: { message } });
    if (body.response_format?.type === 'json_schema') return refuse("'response_format.type' must be 'json_object' or 'text'");
    if (body.stream_options) return refuse('Unknown field: stream_options');
    if (body.temperature !== undefined) return refuse("Unsupported value: 'temperature' does not support 0.2");
    if (body.max_tokens) return refuse("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.");
    if (body.response_format) return refuse('response_format is not supported');
    return { content: `Here you are:\n\`\`\`json\n${JSON.stringify(good)}\n\`\`\`` };
  });
  t.match(report.text, 'They agreed on a pilot.');
  t.equal(server.calls.length, 6);
  t.ok(server.calls[5]!.body.max_completion_tokens);
});

t.test('write() accepts running text from a model that writes no JSON, and grounds it', async (t) => {
  const prose = '# Summary\nThey agreed on a pilot [02:07]. “We will buy the whole company tomorrow”, said Peter. It starts soon [88:00].';
  const { report } = await write(t, () => ({ content: prose }));
  t.equal(report.text, '**Summary**\nThey agreed on a pilot [02:07]. It starts soon.');
  t.equal(report.dropped, 2);
});

t.test('write() retries after 429, 500, a lost connection and an error in the stream', async (t) => {
  const faults: Answer[] = [
    { status: 429, headers: { 'retry-after': '0' }, error: { message: 'slow down' } },
    { status: 500, error: { message: 'oops' } },
    { drop: 'before' },
    { drop: 'during' },
    { streamError: 'CUDA out of memory' },
  ];
  for (const fault of faults) {
    const { report, server } = await write(t, (_, index) => (index < 2 ? fault : { content: good }));
    t.match(report.text, 'They agreed on a pilot.');
    t.equal(server.calls.length, 3);
  }
});

t.test('write() fails with LLM_UNAVAILABLE, to be retried later, if the server keeps failing', async (t) => {
  const { error, server } = await write(t, () => ({ status: 503, error: { message: 'Loading model' } }));
  t.match(error, { code: 'LLM_UNAVAILABLE', retryable: true, message: /Loading model/ });
  t.equal(server.calls.length, 4);
});

t.test('write() fails with LLM_UNAVAILABLE immediately if the connection or the key is refused or the model is unknown', async (t) => {
  const gone = await openWriter({ baseUrl: 'http://127.0.0.1:9/v1', model: 'm', backoffMilliseconds: 1 })
    .write(summary, talk('en-sales'), never)
    .catch((error) => error);
  t.match(gone, { code: 'LLM_UNAVAILABLE', retryable: true });
  for (const status of [401, 404]) {
    const { error, server } = await write(t, () => ({ status }));
    t.match(error, { code: 'LLM_UNAVAILABLE', retryable: false });
    t.equal(server.calls.length, 1);
    t.notMatch(error.message, 'sk-secret-key');
  }
  const { error } = await write(t, () => ({}), {}, []);
  t.match(error, { code: 'LLM_UNAVAILABLE', message: /LLM_MODEL/ });
});

t.test('write() fails with LLM_UNAVAILABLE if the server switches protocols', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => void socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const settings = { baseUrl: `http://127.0.0.1:${port}/v1`, model: 'm', contextTokens: 8192, backoffMilliseconds: 1 };
  const writing = openWriter({ ...settings, patience: { silentSeconds: 60, totalSeconds: 60 } }).write(summary, talk('en-sales'), never);
  const outcome = await Promise.race([writing.catch((error) => error), sleep(120_000, 'never', { ref: false })]);
  t.match(outcome, { code: 'LLM_UNAVAILABLE', retryable: true, message: /another protocol/ });
});

t.test('write() fails with LLM_TIMEOUT if the model is silent for too long, or never finishes', async (t) => {
  const silent = await write(t, () => ({ delay: 5000 }), { patience: { silentSeconds: 0.2, totalSeconds: 60 } });
  t.match(silent.error, { code: 'LLM_TIMEOUT', retryable: true, message: /0\.2 s/ });
  t.equal(silent.server.calls.length, 1);
  const endless = await write(t, () => ({ content: good, pieces: { count: 1000, pause: 50 } }), {
    patience: { silentSeconds: 60, totalSeconds: 1 },
  });
  t.match(endless.error, { code: 'LLM_TIMEOUT', message: /1 s/ });
});

t.test('write() waits for a slow model as long as it makes progress', async (t) => {
  const { report } = await write(t, () => ({ content: good, pieces: { count: 30, pause: 200 } }), {
    patience: { silentSeconds: 4, totalSeconds: 600 },
  });
  t.match(report.text, 'They agreed on a pilot.');
});

t.test('write() sets its own timeouts and never uses the fetch of Node, which gives up after five minutes', async (t) => {
  const { fetch } = globalThis;
  t.teardown(() => void (globalThis.fetch = fetch));
  globalThis.fetch = () => Promise.reject(new Error('fetch was called'));
  t.match((await write(t, () => ({ content: good }))).report.text, 'They agreed on a pilot.');
});

t.test('write() fails with LLM_REFUSED for a refusal in any form', async (t) => {
  const refusals: Answer[] = [
    { content: '', refusal: 'I cannot help with that.' },
    { content: '', finish: 'content_filter' },
    { content: "I'm sorry, but I can't help with this request." },
    { status: 400, error: { message: 'filtered', code: 'content_filter' } },
  ];
  for (const refusal of refusals) t.match((await write(t, () => refusal)).error, { code: 'LLM_REFUSED', retryable: false });
});

t.test('write() retries after malformed JSON or another shape, then fails with LLM_INVALID_OUTPUT', async (t) => {
  for (const content of ['{"sections": [{"heading": "Sum', '{"sections": "none"}', '{"answer": 42}', '']) {
    const { error, server } = await write(t, () => ({ content }));
    t.match(error, { code: 'LLM_INVALID_OUTPUT' });
    t.equal(server.calls.length, 3);
    t.match(server.calls[2]!.body.messages[1]!.content, /could not be used/);
  }
  const { report } = await write(t, (_, index) => (index === 0 ? { content: '{"sections": [' } : { content: good }));
  t.match(report.text, 'They agreed on a pilot.');
});

t.test('write() allows a truncated response more tokens, then fails with LLM_INVALID_OUTPUT', async (t) => {
  const { error, server } = await write(t, () => ({ content: '{"sections": [', finish: 'length' }));
  t.match(error, { code: 'LLM_INVALID_OUTPUT', message: /cut off/ });
  t.ok(server.calls[1]!.body.max_tokens! > server.calls[0]!.body.max_tokens!);
});

t.test('write() fails with LLM_INVALID_OUTPUT immediately for a response longer than the limit', async (t) => {
  for (const [words, whole] of [
    [100_000, false],
    [100_000, true],
    [14_000_000, true],
  ] as const) {
    const { error, server } = await write(t, () => ({ content: 'word '.repeat(words), whole }));
    t.match(error, { code: 'LLM_INVALID_OUTPUT', message: /longer than the limit/ }, `${words} words`);
    t.equal(server.calls.length, 1);
  }
});

t.test('write() retries once if the response is in another language, also in notes', async (t) => {
  for (const text of [
    'Sie haben sich darauf geeinigt, dass es einen Versuch mit drei Fahrzeugen gibt, und dass der Vertrag bis zum Freitag kommt, weil das allen passt.',
    'Angebot bis Freitag an Müller senden. Bestand an Ersatzfiltern prüfen. Folgetermin mit Einkauf vereinbaren. Vertragsentwurf mit verlängerter Garantie vorbereiten. Lieferkosten mit Logistik klären.',
  ]) {
    const german = { sections: [{ heading: 'Kurz', style: 'text', items: [{ text, segment: 0, quote: '' }] }] };
    const { report, server } = await write(t, (_, index) => ({ content: index === 0 ? german : good }));
    t.match(report.text, 'They agreed on a pilot.');
    t.match(server.calls[1]!.body.messages[1]!.content, /Write all of it in English/);
  }
});

t.test('write() stops immediately when cancelled, and closes its request', async (t) => {
  const server = await startLlm(() => ({ delay: 3000 }));
  t.teardown(server.close);
  const stop = new AbortController();
  const writing = openWriter({ baseUrl: server.url }).write(summary, talk('en-sales'), stop.signal);
  while (server.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort(new Error('deleted'));
  await t.rejects(writing, { message: 'deleted' });
  while (server.left === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  t.equal(server.left, 1);
});

t.test('write() never has more requests open than `concurrency`, by default two', async (t) => {
  for (const [concurrency, most] of [
    [3, 3],
    [undefined, 2],
  ] as const) {
    const server = await startLlm(() => ({ delay: 30 }));
    t.teardown(server.close);
    const writer = openWriter({ baseUrl: server.url, concurrency });
    await Promise.all(Array.from({ length: 9 }, () => writer.write(summary, talk('en-sales'), never)));
    t.ok(server.peak <= most, `${server.peak} of ${most}`);
    t.equal(server.calls.length, 9);
  }
});

t.test('write() waits at least 375 ms before the first retry', async (t) => {
  const asked: number[] = [];
  const answers = () => (asked.push(performance.now()) === 1 ? { status: 503 } : { content: good });
  await write(t, answers, { backoffMilliseconds: undefined });
  t.equal(asked.length, 2);
  t.ok(asked[1]! - asked[0]! > 370, 'less the granularity of timers');
});

t.test('write() counts calls by outcome, tokens, seconds, and dropped statements', async (t) => {
  const invented = {
    sections: [{ heading: 'Summary', style: 'list', items: [{ text: 'Agreed.', segment: 17, quote: 'nobody ever said this' }] }],
  };
  const answers: Answer[] = [
    { status: 400, error: { message: "'response_format.type' must be 'json_object' or 'text'" } },
    { status: 503 },
    { content: '{"sections": [' },
    { content: invented },
  ];
  const { writer, report } = await write(t, (_, index) => answers[index]!);
  const { calls, promptTokens, completionTokens, seconds, dropped } = writer.figures;
  t.strictSame(calls, { adapted: 1, unavailable: 1, ok: 1, invalid: 1 });
  t.strictSame({ input: promptTokens, output: completionTokens }, report.tokens);
  t.ok(seconds > 0);
  t.equal(dropped, 1);
});

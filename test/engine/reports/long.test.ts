import t from 'tap';
import { contextExceeded, contextIn } from '../../../engine/reports/features.ts';
import { chunk, linesOf } from '../../../engine/reports/lines.ts';
import { openWriter, type ReportTranscript } from '../../../engine/reports/writer.ts';
import { linesShown, startLlm } from '../../support/servers/llm-server.ts';

const never = new AbortController().signal;
const summary = { slug: 'key-points', name: 'Key points', prompt: null };

/** A talk between Ann and Bob with this many numbered turns. */
function turns(count: number): ReportTranscript {
  const segments = Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    start: at * 10,
    end: at * 10 + 9,
    speaker: at % 2 === 0 ? 'Ann' : 'Bob',
    text: `This is statement number ${at + 1} and it says that machine ${at * 7} in hall ${at % 9} needs a new part before the winter comes.`,
  }));
  return { language: 'en', durationSeconds: count * 10, segments };
}

t.test('write() reads a transcript longer than the context in parts and keeps the speakers', async (t) => {
  const server = await startLlm();
  t.teardown(server.close);
  const transcript = turns(900);
  const { text, dropped } = await openWriter({ baseUrl: server.url, contextTokens: 4096 }).write(summary, transcript, never);
  const seen = new Map<number, string>();
  for (const call of server.calls) for (const { segment, speaker } of linesShown(call)) seen.set(segment, speaker);
  t.equal(seen.size, 900, 'every turn was shown to the model');
  t.ok(
    transcript.segments.every((segment) => seen.get(segment.id) === segment.speaker),
    'notes contain the speaker of their turn',
  );
  for (const { body } of server.calls)
    t.ok(JSON.stringify(body.messages).length / 4 + body.max_tokens! < 4096 * 1.05, 'each call fits the context');
  t.match(text, /^- “This is statement number 1 and it says” \[00:00, Ann\]$/m);
  t.equal(dropped, 0);
});

t.test('write() learns a shorter context from the server and plans again', async (t) => {
  const server = await startLlm(({ body }) =>
    JSON.stringify(body.messages).length > 9000
      ? {
          status: 400,
          error: {
            message: "This model's maximum context length is 3000 tokens. However, your messages resulted in 9000 tokens.",
            code: 'context_length_exceeded',
          },
        }
      : {},
  );
  t.teardown(server.close);
  const { text } = await openWriter({ baseUrl: server.url }).write(summary, turns(150), never);
  t.match(text, 'This is statement number 1');
  t.ok(server.calls.length > 3);
});

t.test('write() fails with TRANSCRIPT_TOO_LONG if no plan fits', async (t) => {
  const server = await startLlm(() => ({ status: 413, error: { message: 'too large' } }));
  t.teardown(server.close);
  await t.rejects(openWriter({ baseUrl: server.url }).write(summary, turns(50), never), {
    code: 'TRANSCRIPT_TOO_LONG',
    message: /LLM_CONTEXT/,
  });
  await t.rejects(openWriter({ baseUrl: server.url, contextTokens: 1024 }).write(summary, turns(50), never), {
    code: 'TRANSCRIPT_TOO_LONG',
  });
});

t.test('write() fails as a whole if one part fails, and leaves no request open', async (t) => {
  const server = await startLlm((_, index) => (index === 1 ? { status: 401 } : { delay: 20 }));
  t.teardown(server.close);
  await t.rejects(openWriter({ baseUrl: server.url, contextTokens: 4096, concurrency: 4 }).write(summary, turns(900), never), {
    code: 'LLM_UNAVAILABLE',
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.ok(server.calls.length <= 8, 'the calls for the other parts are not made');
});

t.test('chunk() keeps turns whole and in order', async (t) => {
  const lines = linesOf(turns(40));
  const chunks = chunk(lines, 200);
  t.strictSame(chunks.flat(), lines);
  for (const part of chunks) t.ok(part.reduce((sum, line) => sum + line.tokens, 0) <= 200);
});

t.test('linesOf() splits a turn that is longer than any context, under one number', async (t) => {
  const lines = linesOf({
    language: 'en',
    durationSeconds: 60,
    segments: [{ id: 7, start: 0, end: 60, speaker: 'Ann', text: 'word '.repeat(2000) }],
  });
  t.ok(lines.length > 5);
  t.strictSame([...new Set(lines.map((line) => line.segment))], [7]);
  t.equal(
    lines
      .map((line) => line.text)
      .join(' ')
      .split(' ').length,
    2000,
  );
});

t.test('contextIn() reads the context length reported by vLLM, llama.cpp, LM Studio, OpenRouter and Ollama', async (t) => {
  t.equal(contextIn({ id: 'a', max_model_len: 32768 }), 32768);
  t.equal(contextIn({ id: 'a', meta: { n_ctx: 8192, n_ctx_train: 131072 } }), 8192);
  t.equal(contextIn({ id: 'a', loaded_context_length: 4096 }), 4096);
  t.equal(contextIn({ id: 'a', context_length: 200000, top_provider: { context_length: 100000 } }), 200000);
  t.equal(contextIn({ id: 'a', owned_by: 'library' }), 4096);
  t.equal(contextIn({ id: 'a' }), null);
});

t.test('write() queries endpoints outside /v1 for a context length missing in the model list, and applies it', async (t) => {
  const bare = [{ id: 'test-model', object: 'model', owned_by: 'me' }];
  const pages = {
    'llama.cpp': { '/props': { default_generation_settings: { n_ctx: 2048 }, total_slots: 1 } },
    'LM Studio': {
      '/api/v0/models': { data: [{ id: 'test-model', state: 'loaded', max_context_length: 131072, loaded_context_length: 2048 }] },
    },
  };
  for (const [name, told] of Object.entries(pages)) {
    const server = await startLlm(undefined, bare, told);
    t.teardown(server.close);
    await openWriter({ baseUrl: server.url }).write(summary, turns(100), never);
    t.ok(server.calls.length > 3, `${name}: in parts`);
    t.ok(
      server.calls.every((call) => JSON.stringify(call.body.messages).length < 2048 * 4),
      name,
    );
  }
  const silent = await startLlm(undefined, bare);
  t.teardown(silent.close);
  await openWriter({ baseUrl: silent.url }).write(summary, turns(100), never);
  t.equal(silent.calls.length, 1, 'without any information, 8192 tokens are assumed');
});

t.test('contextExceeded() extracts the limit from the messages of several servers, and nothing from other errors', async (t) => {
  t.equal(contextExceeded("This model's maximum context length is 4096 tokens."), 4096);
  t.equal(contextExceeded('the request exceeds the available context size (8192 tokens), try increasing it'), 8192);
  t.equal(contextExceeded('prompt is too long'), 0);
  t.equal(contextExceeded('Unknown field: stream_options'), null);
});

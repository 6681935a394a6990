import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A chat request as received. */
export interface Call {
  headers: IncomingMessage['headers'];
  body: {
    model: string;
    stream?: boolean;
    messages: { role: string; content: string }[];
    response_format?: { type: string; json_schema?: { name: string } };
    max_tokens?: number;
    max_completion_tokens?: number;
    [field: string]: unknown;
  };
}

/** The response to one call. Without any field: that of a well-behaved model. */
export interface Answer {
  /** The assistant's message; an object is sent as JSON. */
  content?: unknown;
  finish?: 'stop' | 'length' | 'content_filter';
  refusal?: string;
  /** Sent as `reasoning_content`, as vLLM and others do. */
  reasoning?: string;
  /** An error instead of a response. */
  status?: number;
  error?: { message: string; code?: string; param?: string };
  headers?: Record<string, string>;
  /** Wait before the first byte, in milliseconds. */
  delay?: number;
  /** Close the connection: before the headers, or in the middle of the stream. */
  drop?: 'before' | 'during';
  /** Stream in this many pieces, with a pause after each, in milliseconds. */
  pieces?: { count: number; pause: number };
  /** Respond in one piece although a stream was requested. */
  whole?: boolean;
  /** An error event inside the stream. */
  streamError?: string;
}

export interface LlmServer {
  url: string;
  calls: Call[];
  /** Maximum number of concurrent calls. */
  peak: number;
  /** Calls whose client disconnected before the response was complete. */
  left: number;
  close(): Promise<void>;
}

/** A small server with the HTTP API of OpenAI. `answers` returns each response; `models` is the list at `/v1/models`, `pages` the content of other paths. */
export async function startLlm(
  answers: (call: Call, index: number) => Answer = () => ({}),
  models: unknown = [{ id: 'test-model', object: 'model', max_model_len: 8192 }],
  pages: Record<string, unknown> = {},
): Promise<LlmServer> {
  const state: LlmServer = { url: '', calls: [], peak: 0, left: 0, close: async () => {} };
  let active = 0;
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') {
      const page = { '/v1/models': { object: 'list', data: models }, ...pages }[request.url ?? ''];
      return void response
        .writeHead(page === undefined ? 404 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(page ?? {}));
    }
    const call: Call = { headers: request.headers, body: JSON.parse(await textOf(request)) };
    const index = state.calls.push(call) - 1;
    state.peak = Math.max(state.peak, ++active);
    response.on('close', () => {
      active--;
      if (!response.writableFinished) state.left++;
    });
    await reply(response, call, answers(call, index));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  state.close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return state;
}

async function reply(response: ServerResponse, call: Call, answer: Answer): Promise<void> {
  if (answer.delay) await wait(answer.delay, undefined, { ref: false });
  if (response.destroyed) return;
  if (answer.drop === 'before') return void response.destroy();
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (answer.status) {
    response
      .writeHead(answer.status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: { message: 'error', ...answer.error } }));
    return;
  }
  const content = answer.content ?? obedient(call);
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const usage = { prompt_tokens: Math.ceil(JSON.stringify(call.body.messages).length / 4), completion_tokens: Math.ceil(text.length / 4) };
  const finish_reason = answer.finish ?? 'stop';
  if (answer.whole || !call.body.stream) {
    const message = { role: 'assistant', content: text, ...(answer.refusal && { refusal: answer.refusal }) };
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ id: 'x', object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage }));
    return;
  }
  await stream(response, text, answer, { finish_reason, usage });
}

async function stream(
  response: ServerResponse,
  text: string,
  answer: Answer,
  end: { finish_reason: string; usage: object },
): Promise<void> {
  response.setHeader('content-type', 'text/event-stream');
  const send = (data: unknown) => response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  const delta = (part: object, finish_reason: string | null = null) =>
    send({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta: part, finish_reason }] });
  delta({ role: 'assistant', content: '' });
  if (answer.reasoning) delta({ reasoning_content: answer.reasoning });
  for (let piece = 0; piece < (answer.pieces?.count ?? 0) && !response.destroyed; piece++) {
    delta({ content: '' });
    await wait(answer.pieces!.pause, undefined, { ref: false });
  }
  const half = Math.ceil(text.length / 2);
  delta({ content: text.slice(0, half) });
  if (answer.drop === 'during') {
    await wait(20);
    return void response.destroy();
  }
  if (answer.streamError) {
    send({ error: { message: answer.streamError } });
    return void response.end();
  }
  delta({ content: text.slice(half) });
  if (answer.refusal) delta({ refusal: answer.refusal });
  delta({}, end.finish_reason);
  send({ id: 'x', object: 'chat.completion.chunk', choices: [], usage: end.usage });
  send('[DONE]');
  response.end();
}

/** Default response: the first words of the given transcript lines, in the requested schema. */
function obedient(call: Call): object {
  const shape =
    call.body.response_format?.json_schema?.name ??
    (call.body.messages[0]!.content.includes('"notes"')
      ? 'notes'
      : call.body.messages[0]!.content.includes('"topics"')
        ? 'about'
        : 'report');
  const lines = linesShown(call);
  if (shape === 'notes')
    return { notes: lines.slice(0, 3).map(({ segment, text }) => ({ text: text.slice(0, 80), segment })), speakers: [] };
  if (shape === 'about') return { title: 'A conversation', summary: lines[0]?.text ?? 'Nothing.', topics: ['talk'], speakers: [] };
  return {
    sections: [
      {
        heading: 'Report',
        style: 'list',
        items: lines.slice(0, 5).map(({ segment, text }) => ({ text: '', segment, quote: text.split(' ').slice(0, 8).join(' ') })),
      },
    ],
  };
}

/** The transcript lines in a call. */
export function linesShown(call: Call): { segment: number; speaker: string; text: string }[] {
  const shown = call.body.messages[1]!.content.split('<transcript>').at(-1)!.split('</transcript>')[0]!;
  return [...shown.matchAll(/^\[(\d+)\] \d+:\d+ ([^:]+): (.*)$/gm)].map(([, segment, speaker, text]) => ({
    segment: Number(segment),
    speaker: speaker!,
    text: text!,
  }));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/**
 * What a language model makes of talks in seven languages, for a person to read, with what it cost:
 * `LLM_BASE_URL=http://localhost:11434/v1 LLM_MODEL=qwen3:4b node --import tsx bench/reports.ts [--talk en-sales] [slug …]`.
 * Ollama, llama.cpp's server, vLLM, LM Studio and clouds are asked alike; without LLM_BASE_URL the built-in writer answers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { builtin } from '../api/contract/catalogue.ts';
import { openWriter, ReportError, type ReportTranscript } from '../engine/reports/writer.ts';

const FOLDER = new URL('../test/engine/reports/fixtures/', import.meta.url);
const SLUGS = ['summary', 'tasks', 'sales-call-review', 'call-quality-checklist'];

const { values, positionals } = parseArgs({ options: { talk: { type: 'string', multiple: true } }, allowPositionals: true });
const { LLM_BASE_URL: baseUrl, LLM_MODEL: model, LLM_API_KEY: apiKey, LLM_CONTEXT: context } = process.env;
const writer = openWriter({ baseUrl, model, apiKey, contextTokens: context === undefined ? undefined : Number(context) });
const never = new AbortController().signal;
const talks = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.txt'))
  .map((file) => file.slice(0, -4))
  .filter((name) => values.talk === undefined || values.talk.includes(name));

for (const name of talks) {
  const talk = talkIn(name.slice(0, 2), readFileSync(new URL(`${name}.txt`, FOLDER), 'utf8'));
  await told(`${name}: title, summary, topics, names`, async () => JSON.stringify(await writer.describe(talk, never), null, 2));
  for (const slug of positionals.length > 0 ? positionals : SLUGS) {
    const request = { slug, name: builtin(slug)?.name ?? slug, prompt: null };
    await told(`${name}: ${slug}`, async () => (await writer.write(request, talk, never)).text);
  }
}
const { calls, promptTokens, completionTokens, seconds, dropped } = writer.figures;
console.log(
  `\n${writer.name}: calls ${JSON.stringify(calls)}, ${promptTokens} tokens read, ${completionTokens} written in ${seconds.toFixed(0)} s; ${dropped} inventions removed`,
);

/** Prints what `work` gives, or the code it failed with, and how long it took. */
async function told(what: string, work: () => Promise<string>): Promise<void> {
  const began = performance.now();
  const before = writer.figures.dropped;
  const text = await work().catch((error: unknown) => {
    if (error instanceof ReportError) return `FAILED ${error.code}: ${error.message}`;
    throw error;
  });
  const took = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`\n=== ${what} (${took} s, ${writer.figures.dropped - before} inventions removed)\n${text}`);
}

/** A talk from lines such as `[mm:ss] Speaker: text`; a turn lasts until the next. */
function talkIn(language: string, lines: string): ReportTranscript {
  const turns = [...lines.matchAll(/^\[(\d+):(\d+)\] ([^:]+): (.+)$/gm)].map(([, minutes, seconds, speaker, text], index) => {
    const start = Number(minutes) * 60 + Number(seconds);
    return { id: index + 1, start, end: start + 1, speaker: speaker!, text: text! };
  });
  const segments = turns.map((turn, index) => ({ ...turn, end: turns[index + 1]?.start ?? turn.end }));
  return { language, durationSeconds: segments.at(-1)?.end ?? 0, segments };
}

/**
 * Prints a language model's reports on conversations in seven languages for review, with their cost:
 * `LLM_BASE_URL=http://localhost:11434/v1 LLM_MODEL=qwen3:4b node --import tsx bench/reports/reports.ts [--talk en-sales] [slug …]`. Works with
 * Ollama, llama.cpp's server, vLLM, LM Studio and cloud services; without LLM_BASE_URL the extractive writer is used.
 */
import { parseArgs } from 'node:util';
import { builtin } from '../../api/contract/catalogue.ts';
import { openWriter, ReportError } from '../../engine/reports/writer.ts';
import { TALKS, talk } from './talks.ts';

const SLUGS = ['summary', 'tasks', 'sales-call-review', 'call-quality-checklist'];

const { values, positionals } = parseArgs({ options: { talk: { type: 'string', multiple: true } }, allowPositionals: true });
const { LLM_BASE_URL: baseUrl, LLM_MODEL: model, LLM_API_KEY: apiKey, LLM_CONTEXT: context } = process.env;
const writer = openWriter({ baseUrl, model, apiKey, contextTokens: context === undefined ? undefined : Number(context) });
const never = new AbortController().signal;
const asked = values.talk ?? TALKS;
const unknown = asked.find((name) => !TALKS.includes(name));
if (unknown !== undefined) throw new Error(`There is no talk ${unknown}: there are ${TALKS.join(', ')}`);

for (const name of asked) {
  const spoken = talk(name);
  await print(`${name}: title, summary, topics, names`, async () => JSON.stringify(await writer.describe(spoken, never), null, 2));
  for (const slug of positionals.length > 0 ? positionals : SLUGS) {
    const request = { slug, name: builtin(slug)?.name ?? slug, prompt: null };
    await print(`${name}: ${slug}`, async () => (await writer.write(request, spoken, never)).text);
  }
}
const { calls, promptTokens, completionTokens, seconds, dropped } = writer.figures;
console.log(
  `\n${writer.name}: calls ${JSON.stringify(calls)}, ${promptTokens} tokens read, ${completionTokens} written in ${seconds.toFixed(0)} s; ${dropped} unsupported statements removed`,
);

/** Prints the result of `work`, or its error code, and the duration. */
async function print(what: string, work: () => Promise<string>): Promise<void> {
  const began = performance.now();
  const before = writer.figures.dropped;
  const text = await work().catch((error: unknown) => {
    if (error instanceof ReportError) return `FAILED ${error.code}: ${error.message}`;
    throw error;
  });
  const took = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`\n=== ${what} (${took} s, ${writer.figures.dropped - before} unsupported statements removed)\n${text}`);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { completeGeneration } from '../../../models/build/whisper/generation.ts';
import { SHIPPED_FOLDER } from '../../../models/manifest.ts';

const read = (name: string) => JSON.parse(readFileSync(join(SHIPPED_FOLDER, 'whisper-base', name), 'utf8'));
const published = read('generation_config.json');
const config = read('config.json');
const tokens = new Map<string, number>(
  read('tokenizer.json').added_tokens.map((token: { content: string; id: number }) => [token.content, token.id]),
);

t.test('completeGeneration() does not change a complete file', (t) => {
  t.equal(completeGeneration(published, config, tokens), published);
  t.end();
});

t.test('completeGeneration() derives from config and tokenizer what OpenAI published', (t) => {
  const { alignment_heads, ...made } = completeGeneration({}, config, tokens);
  for (const [key, value] of Object.entries(made)) t.strictSame(value, published[key], key);
  for (const key of ['lang_to_id', 'no_timestamps_token_id', 'eos_token_id', 'suppress_tokens']) t.ok(key in made, key);
  t.strictSame(alignment_heads, published.alignment_heads);
  t.end();
});

t.test('completeGeneration() keeps existing fields and fills in only missing ones', (t) => {
  const made = completeGeneration({ ...published, alignment_heads: null, max_initial_timestamp_index: 7 }, config, tokens);
  t.equal(made.max_initial_timestamp_index, 7);
  t.strictSame(made.alignment_heads, published.alignment_heads);
  t.end();
});

t.test('completeGeneration() ignores alignment heads of a larger decoder', (t) => {
  for (const alignment_heads of [
    [
      [5, 3],
      [25, 6],
    ],
    [[5, 8]],
    [[-1, 0]],
    [5, 3],
    'all',
  ] as never[]) {
    const made = completeGeneration({ ...published, alignment_heads }, config, tokens);
    t.strictSame(made.alignment_heads, published.alignment_heads, JSON.stringify(alignment_heads));
  }
  t.end();
});

t.test('completeGeneration() fills in empty languages and tasks: a multilingual model must not become one of English', (t) => {
  const made = completeGeneration({ ...published, lang_to_id: {}, task_to_id: {} }, config, tokens);
  t.strictSame([made.lang_to_id, made.task_to_id], [published.lang_to_id, published.task_to_id]);
  t.end();
});

t.test('completeGeneration() gives an English-only vocabulary no languages, though its tokenizer lists them', (t) => {
  const made = completeGeneration(
    {},
    { ...config, vocab_size: 51864, eos_token_id: 50256 },
    new Map([...tokens].map(([text, id]) => [text, id - 1])),
  );
  t.notOk('lang_to_id' in made);
  t.equal(made.is_multilingual, false);
  t.equal(made.no_timestamps_token_id, 50362);
  t.equal(made.eos_token_id, 50256);
  t.end();
});

t.test('completeGeneration() uses the heads published for a checkpoint size, and the upper half for other decoders', (t) => {
  const heads = (layers: number, count: number, vocab_size = 51865) =>
    completeGeneration({}, { ...config, vocab_size, decoder_layers: layers, decoder_attention_heads: count }, tokens).alignment_heads;
  t.strictSame(heads(24, 16).length, 6, 'medium: 192 without them, 0.7 GB a thread');
  t.strictSame(heads(32, 20).length, 23);
  t.strictSame(heads(32, 20, 51866).length, 10);
  t.strictSame(heads(4, 20, 51866), [
    [2, 4],
    [2, 11],
    [3, 3],
    [3, 6],
    [3, 11],
    [3, 14],
  ]);
  t.strictSame(heads(12, 12, 51864).length, 19, 'English only');
  t.strictSame(heads(2, 3), [
    [1, 0],
    [1, 1],
    [1, 2],
  ]);
  t.end();
});

t.test(
  "completeGeneration() ignores base's heads in a larger decoder with published ones, which many fine-tuned checkpoints carry",
  (t) => {
    const made = (layers: number, heads: number) =>
      completeGeneration(published, { ...config, decoder_layers: layers, decoder_attention_heads: heads }, tokens).alignment_heads;
    t.strictSame(made(12, 12).slice(0, 3), [
      [5, 3],
      [5, 9],
      [8, 0],
    ]);
    t.strictSame(made(24, 8), published.alignment_heads, 'but keeps them in a size that was never published, a deeper form of base');
    t.end();
  },
);

t.test('completeGeneration() ignores the ids of another checkpoint: in large-v3, the number of transcribe in base translates', (t) => {
  const shifted = new Map([...tokens].map(([text, id]) => [text, id < 50358 ? id : id + 1]));
  const made = completeGeneration(published, { ...config, vocab_size: 51866 }, shifted.set('<|yue|>', 50358));
  t.equal(made.task_to_id!.transcribe, 50360);
  t.equal(made.no_timestamps_token_id, 50364);
  t.equal(made.prev_sot_token_id, 50362);
  t.equal(made.lang_to_id!['<|yue|>'], 50358);
  t.strictSame(made.suppress_tokens, published.suppress_tokens, 'ids of text are the same');
  const english = new Map([...tokens].map(([text, id]) => [text, id - 1]));
  t.notOk('lang_to_id' in completeGeneration(published, { ...config, vocab_size: 51864, eos_token_id: 50256 }, english));
  t.end();
});

t.test('completeGeneration() takes the end of text elsewhere where the file has a list, as newer Trainers write it', (t) => {
  const listed = { ...published, eos_token_id: [50257] };
  t.equal(completeGeneration(listed, config, tokens).eos_token_id, 50257);
  t.equal(completeGeneration(listed, { ...config, eos_token_id: [50257] }, tokens).eos_token_id, 50257);
  t.end();
});

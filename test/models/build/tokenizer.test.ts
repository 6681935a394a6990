import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { openTokenizer } from '../../../engine/asr/whisper/tokenizer.ts';
import { readTokenizer } from '../../../models/build/whisper/tokenizer.ts';
import { importModel } from '../../../models/install/importing.ts';
import { SHIPPED_FOLDER } from '../../../models/manifest.ts';
import { END_OF_TEXT, FIRST_TIMESTAMP, SHAPES, writeCheckpoint } from '../checkpoint.ts';

const SHIPPED = join(SHIPPED_FOLDER, 'whisper-base');

interface Whole {
  added_tokens: { id: number; content: string; special: boolean }[];
  model: { vocab: Record<string, number>; merges: (string | string[])[] };
}

/** Replaces tokenizer.json by what the tokenizer of Python writes. `decoder`: the special tokens are in tokenizer_config.json. */
function split(folder: string, decoder = false): void {
  const { added_tokens, model } = JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8')) as Whole;
  const json = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value));
  const [first, ...others] = added_tokens;
  json('vocab.json', { ...model.vocab, [first!.content]: first!.id });
  const merges = model.merges.map((merge) => (typeof merge === 'string' ? merge : merge.join(' ')));
  writeFileSync(join(folder, 'merges.txt'), `#version: 0.2\n${merges.join('\n')}\n`);
  if (decoder) json('tokenizer_config.json', { added_tokens_decoder: Object.fromEntries(others.map((token) => [token.id, token])) });
  else json('added_tokens.json', Object.fromEntries(others.map(({ content, id }) => [content, id])));
  rmSync(join(folder, 'tokenizer.json'));
}

t.test('readTokenizer() makes the tokenizer from its parts, with the same numbers for text in any script', async (t) => {
  const text = readFileSync(join(SHIPPED, 'tokenizer.json'), 'utf8');
  const shipped = JSON.parse(text) as Whole;
  const ids = ({ added_tokens }: Pick<Whole, 'added_tokens'>) => added_tokens.map(({ id, content }) => [id, content]);
  const folder = t.testdir();
  for (const decoder of [true, false]) {
    writeFileSync(join(folder, 'tokenizer.json'), text);
    split(folder, decoder);
    const made = readTokenizer(folder) as Whole;
    t.strictSame(ids(made), ids(shipped));
    t.ok(isDeepStrictEqual(made.model.vocab, shipped.model.vocab));
  }
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(readTokenizer(folder)));
  const [parts, whole] = await Promise.all([openTokenizer(folder), openTokenizer(SHIPPED)]);
  for (const text of [" It's # 1813, isn't it?", ' नमस्ते दुनिया', '你好 world', ' Ђорђе\n\nнаписао 3.5%', ' Ünïcödé 👩‍👩‍👧']) {
    t.strictSame(parts.encode(text), whole.encode(text), text);
    t.equal(parts.decode(parts.encode(text)), text);
  }
  const others = [50257, 50258, 50363, 50364, 51864, 220, 50256];
  t.equal(parts.decode(others), whole.decode(others));
});

t.test('importModel() imports a fine-tuned checkpoint without tokenizer.json, and the model has one', async (t) => {
  const folders = t.testdir();
  const [from, home] = [join(folders, 'tuned'), join(folders, 'home')];
  writeCheckpoint(from, { ...SHAPES.plain!, generation: false }, 'F16');
  const before = await openTokenizer(from);
  split(from);
  const { folder, descriptor } = await importModel(from, { home, name: 'tuned', variant: 'int8' });
  t.match(descriptor, { tokens: { endOfText: END_OF_TEXT, firstTimestamp: FIRST_TIMESTAMP } });
  t.strictSame((await openTokenizer(folder)).encode(' words'), before.encode(' words'));
  rmSync(join(from, 'merges.txt'));
  await t.rejects(importModel(from, { home, name: 'less' }), /tokenizer\.json: expected a Whisper checkpoint/);
});

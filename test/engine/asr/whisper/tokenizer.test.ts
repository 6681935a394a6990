import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openTokenizer } from '../../../../engine/asr/whisper/tokenizer.ts';
import { SHIPPED_FOLDER } from '../../../../models/manifest.ts';

const SHIPPED = join(SHIPPED_FOLDER, 'whisper-base');

t.test('openTokenizer() works without the optional tokenizer_config.json', async (t) => {
  const folder = t.testdir();
  copyFileSync(join(SHIPPED, 'tokenizer.json'), join(folder, 'tokenizer.json'));
  const [bare, whole] = await Promise.all([openTokenizer(folder), openTokenizer(SHIPPED)]);
  for (const text of [" It's 1813.", ' नमस्ते दुनिया', '你好']) {
    t.strictSame(bare.encode(text), whole.encode(text));
    t.equal(bare.decode(bare.encode(text)), text);
  }
});

t.test('openTokenizer() reads files of old libraries, which do not say that they are byte pair encoding', async (t) => {
  const folder = t.testdir();
  const { model, ...others } = JSON.parse(readFileSync(join(SHIPPED, 'tokenizer.json'), 'utf8'));
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify({ ...others, model: { ...model, type: undefined } }));
  const [old, whole] = await Promise.all([openTokenizer(folder), openTokenizer(SHIPPED)]);
  for (const text of [' Müller', ' नमस्ते', ' 12.5 %']) t.strictSame(old.encode(text), whole.encode(text), text);
});

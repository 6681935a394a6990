import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig, readGeneration } from '../../../models/build/whisper/config.ts';
import { inspect } from '../../../models/checks/inspect.ts';
import { tokenFindings } from '../../../models/checks/inspect-tokens.ts';
import { SHIPPED_FOLDER } from '../../../models/manifest.ts';
import { END_OF_TEXT, SHAPES, VOCABULARY, WIDTH, writeCheckpoint } from '../checkpoint.ts';

type Json = Record<string, unknown>;
type Header = Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }>;

const WEIGHTS = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';
const MATRIX = 'model.encoder.layers.1.self_attn.q_proj.weight';
const EMBEDDING = 'model.decoder.embed_tokens.weight';
const ZERO = 0;
const [NOT_A_NUMBER, INFINITE] = [0x7e00, 0x7c00]; // in half precision

const change = (name: string, by: (given: Json) => unknown) => (folder: string) => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(by(JSON.parse(readFileSync(path, 'utf8')))));
};
const write = (name: string, text: string) => (folder: string) => writeFileSync(join(folder, name), text);
const config = (changes: Json) => change('config.json', (given) => ({ ...given, ...changes }));
const generation = (changes: Json) => change('generation_config.json', (given) => ({ ...given, ...changes }));
const tokenizer = (changes: Json) => change('tokenizer.json', (given) => ({ ...given, ...changes }));
const preprocessor = (content: Json) => write('preprocessor_config.json', JSON.stringify(content));

/** Changes the header of the weights, and their bytes; bytes that are returned are added. */
const weights = (by: (header: Header, bytes: Buffer) => unknown) => (folder: string) => {
  const path = join(folder, WEIGHTS);
  const file = readFileSync(path);
  const end = 8 + Number(file.readBigUInt64LE());
  const [header, bytes] = [JSON.parse(file.toString('utf8', 8, end)) as Header, file.subarray(end)];
  const more = by(header, bytes);
  const [length, json] = [Buffer.alloc(8), Buffer.from(JSON.stringify(header))];
  length.writeBigUInt64LE(BigInt(json.length));
  writeFileSync(path, Buffer.concat([length, json, bytes, ...(Buffer.isBuffer(more) ? [more] : [])]));
};

/** Overwrites the first values of a weight, or all. */
const overwrite = (name: string, half: number, count = Number.POSITIVE_INFINITY) =>
  weights((header, bytes) => {
    const [begin, end] = header[name]!.data_offsets;
    for (let at = begin; at < Math.min(end, begin + 2 * count); at += 2) bytes.writeUInt16LE(half, at);
  });

/** Adds a matrix of its own for the output, which is that of the token embedding or one in which a number differs. */
const output = (differs: boolean) => (folder: string) => {
  config({ tie_word_embeddings: false })(folder);
  weights((header, bytes) => {
    const embedding = header[EMBEDDING]!;
    const copy = Buffer.from(bytes.subarray(...embedding.data_offsets));
    if (differs) copy.writeUInt16LE(copy.readUInt16LE(200) ^ 1, 200);
    header['proj_out.weight'] = { ...embedding, data_offsets: [bytes.length, bytes.length + copy.length] };
    return copy;
  })(folder);
};

const sharded = (index: string) => (folder: string) => {
  renameSync(join(folder, WEIGHTS), join(folder, 'first.safetensors'));
  writeFileSync(join(folder, INDEX), index);
};

const problems: [what: string, damage: (folder: string) => void, message: RegExp][] = [
  ['a matrix of zeros', overwrite(MATRIX, ZERO), /damaged: model\.encoder\.layers\.1\.self_attn\.q_proj\.weight or a part of it is empty/],
  ['a norm of zeros', overwrite('model.encoder.layer_norm.weight', ZERO), /model\.encoder\.layer_norm\.weight or a part of it is empty/],
  ['a hole in its largest matrix', overwrite(EMBEDDING, ZERO, 17_000), /model\.decoder\.embed_tokens\.weight or a part of it is empty/],
  ['a bias with NaN', overwrite('model.encoder.layers.0.fc1.bias', NOT_A_NUMBER, 1), /fc1\.bias has values that are not numbers/],
  ['an infinite norm', overwrite('model.decoder.layer_norm.weight', INFINITE, 1), /layer_norm\.weight has values that are not numbers/],
  [
    'a transposed matrix',
    weights((header) => header['model.encoder.layers.0.fc1.weight']!.shape.reverse()),
    /fc1\.weight is \[64,128\], wanted/,
  ],
  [
    'too few text positions',
    weights((header) => {
      const tensor = header['model.decoder.embed_positions.weight']!;
      tensor.shape[0] = 200;
      tensor.data_offsets[1] = tensor.data_offsets[0] + 200 * 64 * 2;
    }),
    /decoder\.embed_positions\.weight is \[200,64\], wanted \[448,64\]/,
  ],
  ['a layer less in its config', config({ decoder_layers: 1 }), /config\.json says decoder_layers 1, the weights have 2/],
  ['more layers in its config', config({ encoder_layers: 3 }), /no tensor model\.encoder\.layers\.2\./],
  ['another vocabulary size in its config', config({ vocab_size: 1700 }), /embed_tokens\.weight is .*does not match its config\.json/],
  ['heads that do not divide the channels', config({ decoder_attention_heads: 5 }), /5 attention heads for 64 channels/],
  ['heads as text', config({ encoder_attention_heads: '4' }), /config\.json: encoder_attention_heads: .*expected number/],
  ['no layers in its config', config({ encoder_layers: undefined }), /config\.json: encoder_layers: .*expected number/],
  ['a config of another architecture', config({ model_type: 'wav2vec2' }), /model_type wav2vec2; expected a Whisper checkpoint/],
  ['a config that is null', write('config.json', 'null'), /config\.json: it is not a JSON object \(is it a Git LFS pointer/],
  [
    'quantised values',
    weights((header) => Object.assign(header[MATRIX]!, { dtype: 'I8' })),
    /q_proj\.weight is I8, wanted F32, F16, BF16, F64; use the checkpoint before it was quantised/,
  ],
  ['a header of other sizes', weights((header) => Object.assign(header[MATRIX]!, { dtype: 'F32' })), /has 8192 bytes, wanted 16384/],
  ['a header of 64 bits', weights((header) => Object.assign(header[MATRIX]!, { dtype: 'F64' })), /has 8192 bytes, wanted 32768/],
  ['a cut tokenizer', write('tokenizer.json', '{"added_tokens": ['), /tokenizer\.json: it is not a JSON object \(is it .* cut short/],
  ['a tokenizer without special tokens', tokenizer({ added_tokens: undefined }), /tokenizer\.json: added_tokens/],
  [
    'a tokenizer without merges',
    tokenizer({ model: { type: 'BPE', vocab: {} } }),
    /tokenizer\.json belongs to another model: it is not byte pair encoding/,
  ],
  [
    'a tokenizer of another kind',
    tokenizer({ model: { type: 'WordPiece', vocab: {}, merges: [] } }),
    /tokenizer\.json belongs to another model: it is not byte pair encoding/,
  ],
  ['a tokenizer without text', tokenizer({ model: { type: 'BPE', vocab: {}, merges: [] } }), /it has 0 text tokens, the checkpoint 256/],
  [
    'tokens added after the timestamps',
    (folder) => {
      config({ vocab_size: VOCABULARY + 2 })(folder);
      weights((header) => {
        const tensor = header[EMBEDDING]!;
        tensor.shape[0]! += 2;
        tensor.data_offsets[1] += 2 * 64 * 2; // those of the next one
      })(folder);
      const added = ['troponin', 'stent'].map((content, i) => ({ id: VOCABULARY + i, content }));
      change('tokenizer.json', (given) => ({ ...given, added_tokens: [...(given.added_tokens as Json[]), ...added] }))(folder);
    },
    /tokenizer\.json has tokens after the timestamps \(troponin, stent\), added in fine-tuning/,
  ],
  [
    'another matrix for its output than for its tokens',
    output(true),
    /proj_out\.weight is not the embedding of the tokens \(tie_word_embeddings is false/,
  ],
  ['an unreadable preprocessor', write('preprocessor_config.json', '{"feature'), /preprocessor_config\.json: it is not a JSON object/],
  [
    'mel filters of another size',
    preprocessor({ mel_filters: new Array(128).fill(new Array(201).fill(0)) }),
    /mel filters .* are not those/,
  ],
  ['features of telephone speech', preprocessor({ sampling_rate: 8000 }), /says sampling_rate 8000, wanted 16000/],
  ['a generation config that is a list', write('generation_config.json', '[]'), /generation_config\.json: it is not a JSON object/],
  [
    "another model's generation config",
    generation({ eos_token_id: END_OF_TEXT + 1 }),
    /generation_config\.json belongs to another model: <\|endoftext\|> is 257 in it, 256 in tokenizer\.json/,
  ],
  [
    'another start',
    generation({ decoder_start_token_id: END_OF_TEXT + 2 }),
    /<\|startoftranscript\|> is 258 in it, 257 in tokenizer\.json/,
  ],
  ['a latest start of 1.5', generation({ max_initial_timestamp_index: 1.5 }), /generation_config\.json: max_initial_timestamp_index/],
  ['a language without its token', generation({ lang_to_id: { en: 50259 } }), /generation_config\.json: lang_to_id\.en/],
  ['a suppressed token -1', generation({ suppress_tokens: [-1] }), /generation_config\.json: suppress_tokens\.0/],
  ['a cut index', sharded('{"weight_'), /index\.json: it does not say which file holds which weights/],
  [
    'a missing shard',
    sharded('{"weight_map": {"a": "first.safetensors", "b": "second.safetensors"}}'),
    /names second\.safetensors, which is missing/,
  ],
];
for (const [what, damage, message] of problems) {
  t.test(`inspect() reports ${what}`, async (t) => {
    const folder = t.testdir();
    writeCheckpoint(folder, SHAPES.plain!, 'F16');
    damage(folder);
    const found = await Promise.resolve(folder)
      .then(inspect)
      .catch((error: Error) => [error.message]);
    t.equal(found.length, 1);
    t.match(found[0], message);
  });
}

const harmless: [what: string, change: (folder: string) => void][] = [
  ['a matrix for its output that equals the embedding of the tokens', output(false)],
  ['no generation config', (folder) => rmSync(join(folder, 'generation_config.json'))],
  ['its end of text in a list', generation({ eos_token_id: [END_OF_TEXT] })],
  ['the end of text in its config in a list', config({ eos_token_id: [END_OF_TEXT] })],
  ['tensors of other formats that are not used', weights((header) => Object.assign(header, { ids: { ...header[MATRIX], dtype: 'I64' } }))],
  [
    'a token embedding padded with zeros to a multiple of 64',
    (folder) => {
      const padding = 64 - (VOCABULARY % 64) + 256; // more zeros than a hole may have
      writeCheckpoint(folder, { ...SHAPES.plain!, padding }, 'F16');
      weights((header, bytes) => {
        const [begin, end] = header[EMBEDDING]!.data_offsets;
        bytes.fill(0, begin + VOCABULARY * WIDTH * 2, end);
      })(folder);
    },
  ],
  ['a bias of zeros', overwrite('model.encoder.layers.0.fc1.bias', ZERO)],
  ['an index that names more weights than the files have', sharded('{"weight_map": {"none": "first.safetensors"}}')],
];
for (const [what, make] of harmless) {
  t.test(`inspect() accepts a checkpoint with ${what}`, async (t) => {
    const folder = t.testdir();
    writeCheckpoint(folder, SHAPES.plain!, 'F16');
    make(folder);
    t.strictSame(inspect(folder), []);
  });
}

t.test("inspect() accepts another Whisper's numbers of special tokens, and the tokenizer's are used", async (t) => {
  for (const changes of [{ no_timestamps_token_id: END_OF_TEXT + 10 }, { task_to_id: { transcribe: END_OF_TEXT + 6 } }]) {
    const folder = t.testdir();
    writeCheckpoint(folder, SHAPES.plain!, 'F16');
    generation(changes)(folder);
    t.strictSame(inspect(folder), []);
    const { generation: used } = readGeneration(folder, readConfig(folder));
    t.equal(used.no_timestamps_token_id, END_OF_TEXT + 9);
    t.notOk(used.task_to_id, 'there is one only in multilingual models');
  }
});

t.test('tokenFindings() recognises a vocabulary of the same size in another order, and one without merges', async (t) => {
  const shipped = join(SHIPPED_FOLDER, 'whisper-base');
  const sizes = readConfig(shipped);
  const { generation: given } = readGeneration(shipped, sizes);
  t.strictSame(tokenFindings(shipped, sizes, given), []);
  const content = JSON.parse(readFileSync(join(shipped, 'tokenizer.json'), 'utf8'));
  const { vocab, merges } = content.model as { vocab: Record<string, number>; merges: unknown[] };
  const withModel = (model: Json) => {
    const folder = t.testdir();
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify({ ...content, model: { ...content.model, ...model } }));
    return tokenFindings(folder, sizes, given);
  };
  const numbers = Object.values(vocab);
  const moved = Object.fromEntries(Object.keys(vocab).map((token, i) => [token, numbers[(7 * i) % numbers.length]]));
  t.match(withModel({ vocab: moved }), [/belongs to another model: \d+ of its text tokens are not in the order of its merges/]);
  t.match(withModel({ merges: merges.slice(0, 100) }), [/only 100 merges/]);
  t.strictSame(withModel({ merges: merges.map((merge) => (Array.isArray(merge) ? merge.join(' ') : merge)) }), [], 'merges as texts');
});

import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { listed } from '../../../models/choosing/catalogue.ts';
import { PINS } from '../../../models/hub/pins.ts';
import { pullModel, repositoryOf } from '../../../models/hub/pull.ts';
import { importModel } from '../../../models/install/importing.ts';
import { removeModel, verifyModel } from '../../../models/store.ts';
import { SHAPES, writeCheckpoint } from '../checkpoint.ts';
import { openHub } from './fake-hub.ts';

const scratch = mkdtempSync(join(tmpdir(), 'longhand-pull-'));
t.teardown(() => rmSync(scratch, { recursive: true }));
const single = join(scratch, 'single');
writeCheckpoint(single, SHAPES.plain!, 'F16');
writeFileSync(join(single, 'README.md'), '---\nlicense: mit\n---\n# A model\n');

const home = () => mkdtempSync(join(scratch, 'home-'));

t.test('pullModel() imports nothing of an earlier version of the repository', async (t) => {
  const [before, after] = [join(scratch, 'one-file'), join(scratch, 'in-shards')];
  writeCheckpoint(before, SHAPES.plain!, 'F16');
  writeFileSync(join(before, 'README.md'), '---\nlicense: mit\n---\n');
  writeCheckpoint(after, SHAPES.other!, 'F16', 2);
  const repositories = { 'owner/tuned': before };
  const hub = await openHub(t, repositories);
  const folder = home();
  const refuse = () => Promise.reject(new Error('not accurate enough'));
  await t.rejects(pullModel('owner/tuned', { home: folder, hub: hub.base, measure: refuse, quick: true }), /not accurate enough/);
  repositories['owner/tuned'] = after;
  const pulled = await pullModel('owner/tuned', { home: folder, hub: hub.base });
  const imported = await importModel(after, { home: folder, name: 'by-hand' });
  t.strictSame(pulled.files, imported.files, 'not the one file that the earlier version had');
  t.equal(pulled.licence, 'unknown', 'not that of its card');
});

t.test('pullModel() refuses another architecture before it downloads the weights', async (t) => {
  const other = join(scratch, 'other-architecture');
  writeCheckpoint(other, SHAPES.plain!, 'F16');
  writeFileSync(join(other, 'config.json'), '{ "model_type": "wav2vec2" }');
  const hub = await openHub(t, { 'owner/other': other });
  await t.rejects(pullModel('owner/other', { home: home(), hub: hub.base }), /model_type wav2vec2; expected a Whisper checkpoint/);
  t.strictSame(
    hub.seen.filter((line) => line.startsWith('GET')),
    ['GET resolve config.json'],
  );
});

t.test('pullModel() recognises an adapter, which has no config of its own', async (t) => {
  const hub = await openHub(t, { 'owner/lora': t.testdir({ 'adapter_config.json': '{}' }) });
  await t.rejects(pullModel('owner/lora', { home: home(), hub: hub.base }), /Cannot use owner\/lora: it is an adapter \(LoRA\)/);
});

t.test('pullModel() takes the parts of a tokenizer where a fine-tuned checkpoint has no tokenizer.json', async (t) => {
  const tuned = join(scratch, 'tuned');
  writeCheckpoint(tuned, SHAPES.plain!, 'F16');
  const { added_tokens: added, model } = JSON.parse(readFileSync(join(tuned, 'tokenizer.json'), 'utf8'));
  rmSync(join(tuned, 'tokenizer.json'));
  writeFileSync(join(tuned, 'vocab.json'), JSON.stringify(model.vocab));
  const hub = await openHub(t, { 'someone/tuned': tuned });
  await t.rejects(pullModel('someone/tuned', { home: home(), hub: hub.base }), /no tokenizer\.json, nor vocab\.json and merges\.txt/);
  writeFileSync(join(tuned, 'merges.txt'), '#version: 0.2\n');
  const ids = added.map(({ content, id }: { content: string; id: number }) => [content, id]);
  writeFileSync(join(tuned, 'added_tokens.json'), JSON.stringify(Object.fromEntries(ids)));
  const folder = home();
  await pullModel('someone/tuned', { home: folder, hub: hub.base });
  t.strictSame(await verifyModel('tuned', folder), []);
});

t.test('pullModel() rejects files whose checksum differs, large and small', async (t) => {
  for (const damage of ['model.safetensors', 'tokenizer.json']) {
    const hub = await openHub(t, { 'openai/whisper-tiny': single });
    hub.damage = damage;
    const folder = home();
    await t.rejects(pullModel('tiny@main', { home: folder, hub: hub.base }), new RegExp(`Cannot use ${damage}.*checksum`));
    hub.damage = undefined;
    await pullModel('tiny@main', { home: folder, hub: hub.base });
  }
});

t.test('pullModel() takes a short name to mean one commit, and no other weights than those it had', async (t) => {
  const hub = await openHub(t, { 'openai/whisper-tiny': single });
  const found = createHash('sha256')
    .update(readFileSync(join(single, 'model.safetensors')))
    .digest('hex');
  const { revision, sha256 } = PINS.tiny!;
  const pull = (name: string, folder: string) => pullModel(name, { home: folder, hub: hub.base });
  const sentence = new RegExp(`reports the checksum ${found}, wanted ${sha256}; .*pull openai/whisper-tiny@`);
  await t.rejects(pull('tiny', home()), sentence);
  t.strictSame([...hub.revisions], [revision, 'c0ffee'], 'and then the commit that the hub reported');
  t.notOk(
    hub.seen.some((line) => line.startsWith('GET')),
    'nothing was downloaded',
  );
  hub.unsummed = true;
  await t.rejects(pull('tiny', home()), /Cannot use model\.safetensors .*checksum/, 'a hub that reports none does not escape it');
  hub.unsummed = false;
  t.match(await pull('tiny@c0ffee', home()), { licence: 'MIT' });
});

t.test('pullModel() verifies the SHA-1 that a mirror reports of every file', async (t) => {
  const hub = await openHub(t, { 'openai/whisper-tiny': single });
  hub.mirror = true;
  const pull = (name: string) => pullModel(name, { home: home(), hub: hub.base });
  t.match(await pull('tiny@main'), { name: 'whisper-tiny', source: `${hub.base}/openai/whisper-tiny@main` });
  for (const damage of ['model.safetensors', 'tokenizer.json']) {
    hub.damage = damage;
    await t.rejects(pull('tiny@main'), new RegExp(`Cannot use ${damage}.*checksum`));
  }
  hub.damage = undefined;
  await t.rejects(pull('tiny'), /Cannot use model\.safetensors .*: its checksum differs/, 'downloaded, and compared with the known one');
});

t.test('PINS have a commit and a checksum each, no two alike, of models in the catalogue', async (t) => {
  const pins = Object.values(PINS);
  for (const { revision, sha256 } of pins) t.match([revision, sha256], [/^[0-9a-f]{40}$/, /^[0-9a-f]{64}$/]);
  t.equal(new Set(pins.flatMap(({ revision, sha256 }) => [revision, sha256])).size, 2 * pins.length);
  t.ok(Object.keys(PINS).every((name) => listed(name)?.name === name));
});

t.test('pullModel() reports what is wrong with a name, a repository or a hub', async (t) => {
  const hub = await openHub(t, { 'openai/whisper-tiny': single, 'owner/empty': scratch });
  const folder = home();
  await t.rejects(pullModel('huge', { home: folder, hub: hub.base }), /Cannot find a model openai\/whisper-huge/);
  await t.rejects(
    pullModel('owner/empty@old', { home: folder, hub: hub.base }),
    /Cannot find a model owner\/empty .* no config\.json at old$/,
  );
  await t.rejects(pullModel('../../etc', { home: folder, hub: hub.base }), /Cannot pull "\.\.\/\.\.\/etc"/);
  await t.rejects(pullModel('base', { home: folder, hub: hub.base }), /taken/);
  await t.rejects(pullModel('tiny@main', { home: folder, hub: 'http://127.0.0.1:1' }), /Cannot reach .*models import/);
  for (const wrong of ['nonsense', 'hub.example:8080', 'ftp://hub.example'])
    await t.rejects(pullModel('tiny@main', { home: folder, hub: wrong }), /^Cannot use HF_ENDPOINT=.*: expected the URL of a model hub/);
  await t.rejects(pullModel('tiny@main', { home: folder, hub: 'http://me:secret@127.0.0.1:1' }), {
    message: 'Cannot use HF_ENDPOINT: its URL has a user name or password; set HF_TOKEN instead, which is sent to 127.0.0.1:1',
  });
});

t.test('pullModel() refuses a token that cannot be sent, without repeating it, and ignores what is around it', async (t) => {
  const hub = await openHub(t, { 'owner/tuned': single });
  const pull = (token: string) => pullModel('owner/tuned', { home: home(), hub: hub.base, token });
  for (const token of ['hf_secret\nhf_other', 'hf_sec\u2026ret', 'Bearer hf_secret'])
    await t.rejects(pull(token), {
      message: 'Cannot use HF_TOKEN: it has a space, a line break or another character that no token has; copy it again',
    });
  t.strictSame(hub.seen, []);
  t.match(await pull(' hf_secret\r\n'), { name: 'tuned' });
  t.strictSame([...hub.tokens], ['Bearer hf_secret']);
});

t.test('pullModel() takes a branch or a pull request whose name has slashes', async (t) => {
  const hub = await openHub(t, { 'owner/tuned': single });
  const model = await pullModel('owner/tuned@refs/pr/2', { home: home(), hub: hub.base });
  t.equal(model.source, `${hub.base}/owner/tuned@c0ffee`);
  t.strictSame([...hub.revisions], ['refs%2Fpr%2F2', 'c0ffee'], 'all files of the commit that it names now');
});

t.test('pullModel() leaves no folder for a repository that cannot be pulled', async (t) => {
  const hub = await openHub(t, { 'owner/empty': scratch });
  const folder = home();
  await t.rejects(pullModel('owner/empty', { home: folder, hub: hub.base }), /no config\.json/);
  t.strictSame(readdirSync(join(folder, 'models', '.downloads')), []);
});

t.test('pullModel() says where the download of a refused model is, and removeModel() deletes it', async (t) => {
  const hub = await openHub(t, { 'openai/whisper-tiny': single });
  const [folder, said]: [string, string[]] = [home(), []];
  const more = { home: folder, hub: hub.base, onStage: (stage: string) => void said.push(stage) };
  const measure = () => Promise.reject(new Error('not accurate enough'));
  await t.rejects(pullModel('tiny@main', { ...more, measure, quick: true }), /not accurate enough/);
  const download = join(folder, 'models', '.downloads', 'openai--whisper-tiny');
  t.equal(said.at(-1), `the download stays in ${download} for another attempt; "longhand models remove openai/whisper-tiny" deletes it`);
  t.ok(existsSync(download));
  await removeModel('openai/whisper-tiny', folder);
  t.notOk(existsSync(download));
  await t.rejects(removeModel('openai/whisper-tiny', folder), /Cannot find/);
});

t.test('repositoryOf() accepts sizes and repositories', (t) => {
  const { pin, ...turbo } = repositoryOf('large-v3-turbo');
  t.match(turbo, { repository: 'openai/whisper-large-v3-turbo', revision: /^[0-9a-f]{40}$/, entry: { name: 'large-v3-turbo' } });
  t.match(pin, { revision: turbo.revision, sha256: /^[0-9a-f]{64}$/ });
  t.match(repositoryOf('large-v3-turbo@main'), { revision: 'main', entry: { name: 'large-v3-turbo' }, pin: undefined });
  t.equal(repositoryOf('turbo').repository, 'openai/whisper-large-v3-turbo');
  t.equal(repositoryOf('distil-large-v3.5').repository, 'distil-whisper/distil-large-v3.5');
  t.match(repositoryOf('owner/name@1ecca60'), { repository: 'owner/name', revision: '1ecca60' });
  t.equal(repositoryOf('whisper-small.en').repository, 'openai/whisper-small.en');
  t.equal(repositoryOf('owner/name').repository, 'owner/name');
  t.match(repositoryOf('owner/name@refs/pr/2'), { repository: 'owner/name', revision: 'refs/pr/2' });
  for (const wrong of ['owner/name@', 'owner/name@/main', 'owner/name@a//b', 'owner/name@../x', 'owner/name@a@b', 'owner/name/more@main'])
    t.throws(() => repositoryOf(wrong), /^Cannot pull/, wrong);
  t.end();
});

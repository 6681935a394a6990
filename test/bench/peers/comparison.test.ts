import { dirname } from 'node:path';
import t from 'tap';
import { comparePrograms, measurePeers } from '../../../bench/peers/comparison.ts';
import { modelPrograms } from '../../../bench/peers/models.ts';
import type { Peer } from '../../../bench/peers/peers.ts';
import { openPool } from '../../../engine/runtime/pool.ts';
import { shippedModels } from '../../support/engine/models.ts';
import { addDigits, recordings, SAID } from '../../support/engine/recordings.ts';

/** A folder of two recordings of digits, which a small model recognises quickly. */
const rows = Object.entries(SAID).map(([file, said]) => [file, '4', 'en', file, said, '1', 'test'].join('\t'));
const data = t.testdir({
  'MANIFEST.tsv': ['file\tduration_s\tlanguage\tspeaker\ttranscript\tcategory\tsplit', ...rows, ''].join('\n'),
  clips: t.fixture('symlink', dirname(recordings('m5.ogg')[0]!)),
  joined: {},
  home: {},
});
const OPTIONS = { minutes: 0.1, split: 'test', seed: 1, data, log: () => {} } as const;

t.test('comparePrograms() runs every program on the same orders, and divides its time by that of the reference around it', async (t) => {
  const seconds = [2, 4, 4, 8]; // of the reference, before and after in each order
  const heard = async (time: number) => ({ version: '1.2', seconds: time, audio: 60, text: '', peak_rss_mb: 10 });
  const reference: Peer = { name: 'reference', run: () => heard(seconds.shift()!) };
  const seen: string[] = [];
  const silent: Peer = {
    name: 'silent',
    run(file) {
      seen.push(file);
      return heard(3);
    },
  };
  const [own, other] = await comparePrograms(reference, [silent], data, OPTIONS);
  t.equal(new Set(seen).size, 2, 'two orders');
  t.match(own, { name: 'reference', minutesPerHour: 4.5, range: [2, 8], ratio: 1 });
  t.match(other, { name: 'silent', version: '1.2', minutesPerHour: 3, range: [3, 3], peakMegabytes: 10, ratio: 0.75 });
  t.equal(other!.wordErrorRate.rate, 1);
  t.strictSame(other!.difference, { rate: 0, interval: [0, 0] }, 'neither recognises a word');
  t.notOk(own!.difference);
  t.equal(other!.gap * 2 >= other!.wordErrorRate.errors.reference, true, 'all words of one order are a single omission');
  t.equal(own!.wordErrorRate.errors.reference, other!.wordErrorRate.errors.reference, 'both have the same reference words');
});

t.test('measurePeers() runs the open model fast and accurately', async (t) => {
  const { diarization } = await shippedModels(`${data}/home`);
  const models = { whisper: await addDigits(`${data}/home`), diarization };
  const pool = await openPool({ models, threads: 1 });
  const rows = await measurePeers(pool, [], `${data}/joined`, OPTIONS);
  await pool.close();
  t.strictSame(
    rows.map(({ name }) => name),
    ['Longhand', 'Longhand, accurate'],
  );
  for (const row of rows) t.ok(row.wordErrorRate.rate < 0.3 && row.minutesPerHour > 0 && row.peakMegabytes > 100, JSON.stringify(row));
});

t.test('modelPrograms() measures the memory of the model alone, whatever this process has used before', async (t) => {
  const home = t.testdir();
  const { diarization } = await shippedModels(home);
  const [program] = modelPrograms([{ name: 'digits', models: { whisper: await addDigits(home), diarization } }], { threads: 1 });
  t.equal(program!.name, 'digits');
  let ballast: Buffer | null = Buffer.alloc(1.5e9, 1);
  t.equal(ballast.at(-1), 1);
  ballast = null;
  const alone = await program!.run(recordings('m5.ogg')[0]!, 'en');
  t.equal(alone.text.trim(), SAID['m5.ogg']);
  t.ok(alone.seconds > 0 && alone.peak_rss_mb > 100 && alone.peak_rss_mb < 1000, JSON.stringify(alone));
  const [missing] = modelPrograms([{ name: 'lost', models: { whisper: `${home}/lost`, diarization } }], { threads: 1 });
  await t.rejects(missing!.run(recordings('m5.ogg')[0]!, 'en'), /lost/);
});

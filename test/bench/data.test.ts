import t from 'tap';
import { measureAccuracy } from '../../bench/accuracy.ts';
import { type BenchOptions, bench } from '../../bench/bench.ts';
import { clips, MissingClips } from '../../bench/clips.ts';
import { conversation, joined } from '../../bench/conversations.ts';
import { call } from '../../bench/parties.ts';
import type { Pool } from '../../engine/runtime/pool.ts';
import { longhandHere } from '../support/here.ts';

const HEADER = 'file\tduration_s\tlanguage\tspeaker\ttranscript\tcategory\tsplit';
const folder = t.testdir({
  german: { 'MANIFEST.tsv': `${HEADER}\r\nwelt.wav\t5.2\tde\tAnna\tHallo Welt\t2\ttest\r\n`, 'welt.wav': '' },
  empty: { 'MANIFEST.tsv': HEADER },
  lost: { 'MANIFEST.tsv': `${HEADER}\nlost.wav\t5\ten\t\tLost\t1\ttest` },
});
const data = `${folder}/german`;
const settings = { minutes: 1, conversations: 1, accurate: false, split: 'test', seed: 1 } as const;

t.test('clips() reads a manifest with the line ends of Windows', async (t) => {
  t.match(clips(data, 'test'), [{ file: 'welt.wav', language: 'de', split: 'test' }]);
});

t.test('joined(), conversation() and call() say which recordings a folder lacks', async (t) => {
  await t.rejects(joined(60, { data, split: 'test' }), {
    constructor: MissingClips,
    message: `Cannot measure: ${data} has no English clips of 1 to 30 s of category 1 in the test set; see bench/data/README.md`,
  });
  await t.rejects(conversation(1, { speakers: 3, seconds: 20, data }), /it needs 2 voices with clips of 2 to 30 s, and there are 0$/);
  await t.rejects(call(1, 20, data), /it needs 2 voices/);
});

t.test('measureAccuracy() leaves out what a folder has no recordings for, and fails if that leaves nothing', async (t) => {
  const log: string[] = [];
  const options = { ...settings, data: `${folder}/empty`, log: (line: string) => void log.push(line) };
  const pool = {} as Pool;
  const found = await measureAccuracy(pool, { ...options, parts: ['clips', 'joined', 'languages', 'changes', 'rooms', 'quiet', 'turns'] });
  t.strictSame(found, { realTurns: [] });
  t.equal(log.filter((line) => /^ {2}Cannot (measure|simulate)/.test(line)).length, 6, log.join('\n'));
  await t.rejects(measureAccuracy(pool, { ...options, parts: ['languages'] }), /has no clips in other languages \(category 2\)/);
});

t.test('bench() says before it measures that recordings are missing', async (t) => {
  const options: BenchOptions = {
    ...{ ...settings, files: 1, accuracy: true, speed: true, peers: [], meanMinutes: 10, model: 'none' },
    log: () => t.fail('nothing is measured'),
  };
  const pool = { threads: 1, device: 'cpu' } as Pool;
  await t.rejects(bench(pool, { ...options, data: `${data}/no` }), /no: there is no .*no\/MANIFEST\.tsv/);
  await t.rejects(bench(pool, { ...options, data: `${folder}/lost` }), /MANIFEST\.tsv names lost\.wav, and there is no .*lost\.wav/);
});

t.test('bench refuses an option that nothing requested would use', async (t) => {
  for (const [flag, value, needs] of [
    ['--data', data, '--accuracy or --peer or --models'],
    ['--set', 'tuning', '--accuracy or --peer or --models'],
    ['--seed', '2', '--accuracy or --peer or --models'],
    ['--mean-minutes', '5', '--load'],
  ] as const)
    t.match(await longhandHere(['bench', '--no-speed', flag, value], {}), { code: 2, stderr: `needs ${needs}` }, flag);
});

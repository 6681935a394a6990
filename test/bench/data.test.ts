import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { measureAccuracy, type Part } from '../../bench/accuracy/accuracy.ts';
import { call } from '../../bench/accuracy/parties.ts';
import { type BenchOptions, bench } from '../../bench/bench.ts';
import { clips, DATA, englishClips, MissingClips } from '../../bench/recordings/clips.ts';
import { conversation, joined } from '../../bench/recordings/conversations.ts';
import { delayed, level, SAMPLE_RATE, samplesOf, writeWav } from '../../bench/recordings/sound.ts';
import { FRAMES_PER_WINDOW, LOCAL_SPEAKERS } from '../../engine/diarization/pyannote.ts';
import type { Pool } from '../../engine/runtime/pool.ts';
import { poolOf } from '../support/engine/pools.ts';
import { longhandHere } from '../support/processes/here.ts';

const HEADER = 'file\tduration_s\tlanguage\tspeaker\ttranscript\tcategory\tsplit';
const folders = t.testdir({
  german: { 'MANIFEST.tsv': `${HEADER}\r\nwelt.wav\t5.2\tde\tAnna\tHallo Welt\t2\ttest\r\n`, 'welt.wav': '' },
  empty: { 'MANIFEST.tsv': HEADER },
  lost: { 'MANIFEST.tsv': `${HEADER}\nlost.wav\t5\ten\t\tLost\t1\ttest` },
});
const data = `${folders}/german`;
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

t.test('conversation() begins its turns where the speech is, also in clips that begin with much silence', async (t) => {
  const late = t.testdir();
  const rows: string[] = [];
  for (const { file, path, transcript } of englishClips(DATA).filter(({ file }) => /2033-164914-000[12]/.test(file))) {
    await writeWav(join(late, `${file}.wav`), delayed(await samplesOf(path), 2.5));
    rows.push([`${file}.wav`, '9', 'en', file, transcript, '1', 'test'].join('\t'));
  }
  writeFileSync(join(late, 'MANIFEST.tsv'), [HEADER, ...rows].join('\n'));
  const { samples, turns } = await conversation(1, { speakers: 2, seconds: 5, data: late });
  const sound = (from: number, to: number) => level(samples.subarray(Math.max(0, from) * SAMPLE_RATE, to * SAMPLE_RATE));
  const [{ start }] = turns as [(typeof turns)[0]];
  t.ok(sound(start, start + 0.3) > 20 * sound(0, start - 0.2), `speech from ${start} s on`);
});

t.test('measureAccuracy() leaves out what a folder has no recordings for, and fails if that leaves nothing', async (t) => {
  const log: string[] = [];
  const options = { ...settings, data: `${folders}/empty`, log: (line: string) => void log.push(line) };
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
  await t.rejects(bench(pool, { ...options, data: `${folders}/lost` }), /MANIFEST\.tsv names lost\.wav, and there is no .*lost\.wav/);
});

t.test('bench refuses an option that nothing requested would use', async (t) => {
  for (const [flag, value, needs] of [
    ['--data', data, '--accuracy or --peer or --models'],
    ['--set', 'tuning', '--accuracy or --peer or --models'],
    ['--seed', '2', '--accuracy or --peer or --models'],
    ['--mean-minutes', '5', '--load'],
  ] as const)
    t.match(await longhandHere(['bench', '--no-speed', flag, value], {}), { code: 2, stderr: `needs ${needs}` }, flag);
  const fixed = ['bench', '--no-speed', '--seed', '2', '--accuracy', 'clips', 'turns'];
  t.match(await longhandHere(fixed, {}), { code: 2, stderr: /'--seed <number>' changes nothing in --accuracy clips turns/ });
});

t.test('measureAccuracy() makes other conversations of people, interjections and noises with another seed', async (t) => {
  /** The first sound of a part, as a pool that stops there receives it. */
  const first = async (part: Part, seed: number): Promise<string> => {
    const pool = poolOf({
      segment: async ([window]) => {
        if (window!.some((x) => x !== 0)) throw new Error(createHash('md5').update(new Uint8Array(window!.slice().buffer)).digest('hex'));
        return [{ speakers: new Uint8Array(FRAMES_PER_WINDOW * LOCAL_SPEAKERS), speech: new Uint8Array(FRAMES_PER_WINDOW) }];
      },
    });
    const { message } = await measureAccuracy(pool, { ...settings, seed, parts: [part], log: () => {} }).catch((error) => error);
    return message;
  };
  for (const part of ['people', 'interjections', 'noise'] as const) {
    const [one, again, other] = [await first(part, 1), await first(part, 1), await first(part, 2)];
    t.match(one, /^[0-9a-f]{32}$/, part);
    t.equal(one, again, part);
    t.not(one, other, part);
  }
});

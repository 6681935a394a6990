/*
 * Random bytes, and valid and randomly damaged files of every format that the installed ffmpeg can write, without an extension: engines name their copies
 * by random UUIDs. SEED=n repeats a run; ROUNDS=n damages each file in n ways, and tries each extension too.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { EXTENSIONS } from '../../../api/contract/formats.ts';
import { SEED } from '../../support/seeded.ts';
import { each, ffmpeg, hostileFolder, judge, random, type Verdict } from './bench.ts';

const { folder, left } = hostileFolder(t);
const ENDS = new Set([null, 'FILE_CORRUPTED', 'FILE_NO_AUDIO', 'UNSUPPORTED_CODEC', 'RECORDING_TOO_SHORT', 'RECORDING_TOO_LONG']);
const ROUNDS = Number(process.env.ROUNDS ?? 1);
const EACH_EXTENSION = process.env.ROUNDS !== undefined;
const RANDOM_FILES = 12;
const before = process.memoryUsage.rss();

/** Extensions, the ffmpeg options that write them, and the encoder they require. */
const RECIPES: [extensions: string, options: string, encoder: string][] = [
  ['mp3 mpga', '-f mp3 -c:a libmp3lame', 'libmp3lame'],
  ['mp2 mpa m2a', '-f mp2 -c:a mp2', 'mp2'],
  ['wav wave bwf', '-f wav', 'pcm_s16le'],
  ['rf64', '-f wav -rf64 always', 'pcm_s16le'],
  ['w64', '-f w64', 'pcm_s16le'],
  ['m4a m4b m4r', '-f ipod -c:a aac', 'aac'],
  ['aac adts', '-f adts -c:a aac', 'aac'],
  ['ogg oga', '-f ogg -c:a libvorbis', 'libvorbis'],
  ['spx', '-f spx -ar 16000 -c:a libspeex', 'libspeex'],
  ['opus', '-f opus -c:a libopus', 'libopus'],
  ['flac', '-f flac', 'flac'],
  ['amr', '-f amr -ar 8000 -ac 1 -c:a libopencore_amrnb', 'libopencore_amrnb'],
  ['3ga', '-f 3gp -c:a aac', 'aac'],
  ['wma', '-f asf -c:a wmav2', 'wmav2'],
  ['aiff aif aifc', '-f aiff', 'pcm_s16be'],
  ['au snd', '-f au', 'pcm_s16be'],
  ['caf', '-f caf', 'pcm_s16be'],
  ['ac3', '-f ac3', 'ac3'],
  ['eac3', '-f eac3', 'eac3'],
  ['dts', '-f dts -strict -2 -c:a dca -ar 48000', 'dca'],
  ['mka', '-f matroska -c:a libvorbis', 'libvorbis'],
  ['weba', '-f webm -c:a libopus', 'libopus'],
  ['wv', '-f wv', 'wavpack'],
  ['tta', '-f tta', 'tta'],
  ['voc', '-f voc -c:a pcm_u8', 'pcm_u8'],
  ['gsm', '-f gsm -ar 8000 -ac 1 -c:a libgsm', 'libgsm'],
  ['ra', '-f rm -ar 8000 -ac 1 -c:a real_144', 'real_144'],
  ['mp4 m4v f4v', 'V -f mp4 -c:v mpeg4 -c:a aac', 'mpeg4'],
  ['mov qt', 'V -f mov -c:v mpeg4 -c:a pcm_s16le', 'mpeg4'],
  ['mkv', 'V -f matroska -c:v mpeg4 -c:a flac', 'mpeg4'],
  ['webm', 'V -f webm -c:v libvpx -deadline realtime -cpu-used 8 -c:a libopus', 'libvpx'],
  ['avi divx', 'V -f avi -c:v mpeg4 -c:a libmp3lame', 'libmp3lame'],
  ['wmv asf', 'V -f asf -c:v wmv2 -c:a wmav2', 'wmv2'],
  ['flv', 'V -f flv -c:v flv -ar 44100 -c:a libmp3lame', 'libmp3lame'],
  ['mpeg mpg mpe', 'V -f mpeg -c:v mpeg1video -c:a mp2', 'mp2'],
  ['m2p vob', 'V -f vob -c:v mpeg2video -c:a ac3', 'ac3'],
  ['ts', 'V -f mpegts -c:v mpeg2video -c:a mp2', 'mp2'],
  ['mts m2ts m2t', 'V -f mpegts -mpegts_m2ts_mode 1 -c:v mpeg2video -c:a ac3', 'ac3'],
  ['3gp 3gpp', 'V -f 3gp -c:v mpeg4 -c:a aac', 'aac'],
  ['3g2 3gpp2', 'V -f 3g2 -c:v mpeg4 -c:a aac', 'aac'],
  ['ogv', 'V -f ogv -c:v libtheora -c:a libvorbis', 'libtheora'],
  ['ogm', '-f ogg -c:a libvorbis', 'libvorbis'],
  ['mxf', 'V -f mxf -c:v mpeg2video -c:a pcm_s16le -ar 48000', 'mpeg2video'],
  ['dv', 'V -f dv -s 720x576 -r 25 -pix_fmt yuv420p -c:v dvvideo -ac 2 -ar 48000 -c:a pcm_s16le', 'dvvideo'],
  ['rm rmvb', 'V -f rm -c:v rv10 -c:a ac3', 'rv10'],
  ['wtv', 'V -f wtv -c:v mpeg2video -c:a mp2', 'mp2'],
];
const UNWRITABLE = ['awb', 'ape']; // no encoder exists

const SOUND = '-f lavfi -i sine=440:d=4:r=16000'.split(' ');
const PICTURE = '-f lavfi -i testsrc=d=4:s=176x144:r=25'.split(' ');

/** One valid file per recipe whose encoder this ffmpeg has, by its first extension; one ffmpeg writes all, because starting one takes longer. */
async function realFiles(): Promise<Map<string, Buffer>> {
  const has = new Set(execFileSync('ffmpeg', ['-hide_banner', '-encoders'], { encoding: 'utf8' }).match(/(?<=^ [A-Z.]{6} )\S+/gm));
  const made = RECIPES.filter(([, , encoder]) => has.has(encoder)).map(([extensions, options]) => {
    const path = join(folder, `made-${extensions.split(' ')[0]}`);
    const streams = options.startsWith('V ') ? ['-map', '1:v', '-map', '0:a'] : ['-map', '0:a'];
    return { extensions, path, output: [...streams, ...options.replace(/^V /, '').split(' '), path] };
  });
  await ffmpeg(...SOUND, ...PICTURE, ...made.flatMap(({ output }) => output));
  return new Map(
    made.flatMap(({ extensions, path }) => extensions.split(' ').map((extension) => [extension, readFileSync(path)] as const)),
  );
}

/** Changes some bytes, duplicates or removes a part, or truncates the file. */
function damaged(bytes: Buffer, chance: () => number): Buffer {
  const hurt = Buffer.from(bytes);
  const kind = Math.floor(chance() * 4);
  const at = () => Math.floor(chance() * hurt.length);
  if (kind === 0) return hurt.subarray(0, Math.max(1024, at()));
  if (kind === 1) {
    const [from, size] = [at(), Math.floor(chance() * 2000)];
    return Buffer.concat([hurt.subarray(0, from), hurt.subarray(Math.min(hurt.length, from + size))]);
  }
  const head = kind === 2 ? Math.min(hurt.length, 600) : hurt.length; // damage to headers has the greatest effect
  for (let i = 0; i < Math.max(8, head / 200); i++) hurt[Math.floor(chance() * head)] = Math.floor(chance() * 256);
  return hurt;
}

/** Checks one file. Returns what went wrong, if anything. */
async function look(name: string, bytes: Buffer, outcomes: Map<string, number>): Promise<string[]> {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  let verdict: Verdict;
  try {
    verdict = await judge(path, 600);
  } catch (error) {
    return [`${name}: ${(error as Error).stack}`];
  }
  const end = verdict.code ?? 'decoded';
  outcomes.set(end, (outcomes.get(end) ?? 0) + 1);
  if (!ENDS.has(verdict.code)) return [`${name}: ${verdict.code} ${verdict.message}`];
  return verdict.message.includes(folder) ? [`${name}: the message contains the path: ${verdict.message}`] : [];
}

/** Names under which to try the formats: their first extension as the whole name, or every extension. */
function named(real: ReadonlyMap<string, Buffer>): { name: string; bytes: Buffer }[] {
  const firsts = new Set(RECIPES.map(([extensions]) => extensions.split(' ')[0]));
  const bare = [...real].filter(([extension]) => firsts.has(extension)).map(([extension, bytes]) => ({ name: extension, bytes }));
  return EACH_EXTENSION ? [...bare, ...[...real].map(([extension, bytes]) => ({ name: `a.${extension}`, bytes }))] : bare;
}

t.comment(`SEED=${SEED}`);
const real = await realFiles();

t.test('decode() decodes a valid file of every format, whatever its name', async (t) => {
  t.strictSame(
    [...EXTENSIONS].filter((extension) => !real.has(extension) && !UNWRITABLE.includes(extension) && extension !== 'amr'),
    [],
    'every extension has a recipe',
  );
  await each(named(real), async ({ name, bytes }) => {
    const path = join(folder, `real-${name}`);
    writeFileSync(path, bytes);
    const verdict = await judge(path, 600);
    t.match(verdict, { code: null }, `${name}: ${verdict.message}`);
    t.ok(Math.abs(verdict.seconds - 4) < 0.4 && verdict.loudest > 0.02, `${name}: ${verdict.seconds} s, peak ${verdict.loudest}`);
  });
});

t.test('decode() of random bytes fails with a documented error code', async (t) => {
  const outcomes = new Map<string, number>();
  const failures: string[] = [];
  const names = Array.from({ length: RANDOM_FILES }, (_, i) => `random-${i}`);
  const all = EACH_EXTENSION ? [...names, ...[...EXTENSIONS].map((extension) => `random.${extension}`)] : names;
  await each([...all.entries()], async ([index, name]) => {
    const chance = random(SEED + index);
    const bytes = Buffer.from(Array.from({ length: 20_000 }, () => Math.floor(chance() * 256)));
    failures.push(...(await look(name, bytes, outcomes)));
  });
  t.strictSame(failures, [], `SEED=${SEED}`);
  t.comment(JSON.stringify(Object.fromEntries(outcomes)));
});

t.test('decode() of a randomly damaged file succeeds or fails with a documented error code', async (t) => {
  const outcomes = new Map<string, number>();
  const failures: string[] = [];
  const cases = named(real).flatMap(({ name, bytes }, index) =>
    Array.from({ length: ROUNDS }, (_, round) => ({ name, bytes, seed: SEED + 1000 * (round + 1) + index })),
  );
  await each(cases, async ({ name, bytes, seed }) => {
    failures.push(...(await look(`damaged-${seed}-${name}`, damaged(bytes, random(seed)), outcomes)));
  });
  t.strictSame(failures, [], `SEED=${SEED}`);
  t.ok((outcomes.get('decoded') ?? 0) > 0, 'some damaged files are decoded');
  t.comment(JSON.stringify(Object.fromEntries(outcomes)));
});

t.test('decode() leaves no files or processes behind, and this process has not grown', async (t) => {
  t.strictSame(await left(), []);
  const grown = process.memoryUsage.rss() - before;
  t.ok(grown < 400 * 2 ** 20, `${Math.round(grown / 2 ** 20)} MiB`);
});

import { join } from 'node:path';
import { examine } from '../../../engine/asr/examine.ts';
import { importPublished } from '../../../models/published/importing.ts';
import { finish, ROOT } from '../processes/processes.ts';

const DIGITS_FOLDER = join(ROOT, 'test/engine/asr/digits');
const CLIPS = join(ROOT, 'bench/data/clips');

/** Name of a CTC model for English digits only. */
export const DIGITS = 'digits';

/** Reference transcripts of the recordings of digits; their speakers were held out of training. */
export const SAID = { 'm5.ogg': 'three one four one five nine two six', 'f4.ogg': 'zero eight seven five three two nine zero' } as const;

/** Adds the model of digits to a state folder. Returns its folder. */
export async function addDigits(home: string): Promise<string> {
  return (await importPublished(DIGITS_FOLDER, { home, name: DIGITS, languages: ['en'], examine })).folder;
}

/** Paths of recordings by name: digits, or a clip of bench/data. */
export function recordings(...names: string[]): string[] {
  return names.map((name) => join(name in SAID ? DIGITS_FOLDER : CLIPS, name));
}

/** Joins recordings, at equal loudness, in a WAV file. */
export async function join16k(paths: readonly string[], target: string): Promise<string> {
  const each = paths.map((_, i) => `[${i}:a]aresample=16000,aformat=channel_layouts=mono,loudnorm,aresample=16000,apad=pad_dur=0.6[a${i}]`);
  const all = `${paths.map((_, i) => `[a${i}]`).join('')}concat=n=${paths.length}:v=0:a=1`;
  const inputs = paths.flatMap((path) => ['-i', path]);
  const { code, stderr } = await finish('ffmpeg', [
    '-v',
    'error',
    '-y',
    ...inputs,
    '-filter_complex',
    [...each, all].join(';'),
    '-ar',
    '16000',
    target,
  ]);
  if (code !== 0) throw new Error(stderr);
  return target;
}

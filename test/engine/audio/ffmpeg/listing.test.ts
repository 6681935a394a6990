import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { decode, findTools, probe } from '../../../../engine/audio/decode.ts';
import { ListingReader } from '../../../../engine/audio/ffmpeg/listing.ts';

const folder = t.testdir();
const { ffmpeg } = await findTools();
const run = promisify(execFile);
const tone = (hertz: number) => ['-f', 'lavfi', '-i', `sine=${hertz}:d=1.5`];

/** Makes a file with ffmpeg. Returns its path. */
async function make(name: string, ...args: string[]): Promise<string> {
  const path = join(folder, name);
  await run(ffmpeg, ['-v', 'error', '-y', ...args, path]);
  return path;
}

/** A recording with two audio tracks, the first one's language and title as given. */
function pair(language: string, title = ''): Promise<string> {
  const tags = ['-metadata:s:a:0', `language=${language}`, '-metadata:s:a:0', `title=${title}`, '-metadata:s:a:1', 'language=fre'];
  return make('pair.mkv', ...tone(440), ...tone(660), '-map', '0', '-map', '1', ...tags, '-c:a', 'flac');
}

t.test('probe() finds a track whatever its language tag is, and the language if it is one', async (t) => {
  const CASES: [file: string, tag: string, language: string | null][] = [
    ['brazil.opus', 'pt-BR', 'pt'],
    ['named.ogg', 'Français', null],
    ['american.webm', 'en-US', 'en'],
    ['both.ts', 'deu,eng', null],
    ['underscore.mkv', 'de_AT', 'de'],
    ['old.mkv', 'ger', 'de'],
    ['english.mkv', 'english', null],
    ['undetermined.mkv', 'und', null],
  ];
  for (const [file, tag, language] of CASES) {
    const { tracks } = await probe(await make(file, ...tone(440), '-metadata:s:a:0', `language=${tag}`));
    t.match(tracks, [{ layout: 'mono', language }], `${file}: ${tag}`);
    t.equal(tracks.length, 1);
  }
  const film = ['-f', 'lavfi', '-i', 'testsrc=d=1.5:s=64x64', ...tone(440), '-metadata:s:a:0', 'language=pt-BR'];
  t.match(await probe(await make('film.mkv', ...film)), { mediaType: 'video', tracks: [{ index: 1, language: 'pt' }] });
});

t.test('probe() finds exactly the tracks of a file whose tags imitate a listing', async (t) => {
  const LANGUAGES = [
    'en-US',
    'a(b)c',
    '(',
    ')',
    'x: Audio: aac',
    'x): Audio: aac, 1 Hz, mono',
    'en\n  Stream #0:1(eng): Audio: aac, 1 Hz, mono',
    '\n\n\n',
    'x'.repeat(5000),
    '(\n'.repeat(5000),
    'x'.repeat(70_000),
  ];
  for (const language of LANGUAGES) {
    const { tracks, mediaType } = await probe(await pair(language, 'x\n  Stream #0:7(eng): Video: h264'));
    const label = JSON.stringify(language.slice(0, 50));
    t.equal(mediaType, 'audio', label);
    t.strictSame(
      tracks.map(({ index, codec, layout, language }) => ({ index, codec, layout, language })),
      [
        { index: 0, codec: 'flac', layout: 'mono', language: language === 'en-US' ? 'en' : null },
        { index: 1, codec: 'flac', layout: 'mono', language: 'fr' },
      ],
      label,
    );
  }
});

t.test('decode() leaves out a track that exists only in a tag', async (t) => {
  const recording = await decode(await pair('x): Audio: aac, 1 Hz, mono\n  Stream #0:5(y'));
  t.teardown(() => recording.close());
  t.equal(recording.channels, 2);
});

t.test('ListingReader does not take an estimate from the bitrate for a declared duration', (t) => {
  const durationOf = (first: string) => {
    const reader = new ListingReader();
    reader.push(`${first}\nInput #0, aac, from 'x':\n  Duration: 00:27:59.00, bitrate: 1 kb/s\n`);
    return reader.listing().durationSeconds;
  };
  t.equal(durationOf('[aac @ 0x55d0] Estimating duration from bitrate, this may be inaccurate'), null);
  t.equal(durationOf('    title           : Estimating duration from bitrate'), 1679);
  t.end();
});

t.test('probe() gives no duration for raw AAC and MP3 without a header, and that of the header', async (t) => {
  const sound = [
    '-f',
    'lavfi',
    '-i',
    'aevalsrc=0:d=5',
    '-f',
    'lavfi',
    '-i',
    'anoisesrc=d=15:r=16000',
    '-filter_complex',
    'concat=n=2:v=0:a=1',
  ];
  const mono = ['-ac', '1', '-ar', '16000'];
  t.equal((await probe(await make('raw.aac', ...sound, ...mono))).durationSeconds, null);
  t.equal((await probe(await make('bare.mp3', ...sound, ...mono, '-q:a', '4', '-write_xing', '0'))).durationSeconds, null);
  t.equal(Math.round((await probe(await make('headed.mp3', ...sound, ...mono, '-q:a', '4'))).durationSeconds!), 20);
  t.equal(Math.round((await probe(await make('headed.m4a', ...sound, ...mono))).durationSeconds!), 20);
});

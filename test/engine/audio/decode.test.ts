import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { type DecodeOptions, decode, findTools, probe } from '../../../engine/audio/decode.ts';
import { ListingReader } from '../../../engine/audio/ffmpeg/listing.ts';
import { lookUp } from '../../../engine/audio/ffmpeg/tools.ts';
import { MediaError, type Recording } from '../../../engine/types.ts';

const clip = (name: string) => fileURLToPath(new URL(`../../fixtures/audio/${name}`, import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'longhand-test-'));
t.teardown(() => rm(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const { ffmpeg } = await findTools();
const make = (name: string, ...args: string[]) => promisify(execFile)(ffmpeg, ['-v', 'error', '-y', ...args, at(name)]);

/** The error code of a file, or its decoded duration in seconds. */
async function outcome(path: string, options: Partial<DecodeOptions> = {}): Promise<string | number> {
  let recording: Recording | undefined;
  try {
    recording = await decode(path, options);
    return (await recording.decoded) / 16_000;
  } catch (error) {
    if (error instanceof MediaError) return error.code;
    throw error;
  } finally {
    await recording?.close();
  }
}

async function probed(path: string): Promise<string> {
  return probe(path).then(
    () => 'fine',
    (error: MediaError) => error.code,
  );
}

t.test('decode() and probe() reject unusable files with the right code', async (t) => {
  await make('whole.mp4', '-i', clip('en_jfk.mp3'), '-c:a', 'aac');
  await make('silent-film.mp4', '-f', 'lavfi', '-i', 'testsrc=d=2:s=64x64');
  await make('half.mp3', '-f', 'lavfi', '-i', 'sine=d=0.5', at('half.wav'));
  const mp4 = await readFile(at('whole.mp4'));
  await writeFile(at('truncated.mp4'), mp4.subarray(0, mp4.length / 2));
  await writeFile(at('random.mp3'), Buffer.from(Array.from({ length: 20_000 }, (_, i) => Math.imul(i, 2654435761) >>> 24)));
  await writeFile(at('empty.wav'), '');
  await writeFile(at('text.mp3'), 'Dear reader, this is a letter and no recording. '.repeat(43));
  for (const name of ['truncated.mp4', 'random.mp3', 'empty.wav', 'text.mp3']) {
    t.equal(await outcome(at(name)), 'FILE_CORRUPTED', `decode ${name}`);
    t.equal(await probed(at(name)), 'FILE_CORRUPTED', `probe ${name}`);
  }
  t.equal(await outcome(at('silent-film.mp4')), 'FILE_NO_AUDIO');
  t.equal(await probed(at('silent-film.mp4')), 'FILE_NO_AUDIO');
  t.equal(await outcome(at('half.wav')), 'RECORDING_TOO_SHORT');
  t.equal(await outcome(at('half.mp3')), 'RECORDING_TOO_SHORT');
  await make('nearly.wav', '-f', 'lavfi', '-i', 'sine=r=16000', '-af', 'atrim=end_sample=15999');
  const nearly = await decode(at('nearly.wav'));
  await t.rejects(nearly.decoded, { message: /it lasts 0\.99 s; the minimum is 1 s/ });
  await nearly.close();
});

t.test('probe() finds a codec unknown that ffmpeg refuses to list, in Ogg and AIFC', async (t) => {
  const sound = ['-f', 'lavfi', '-i', 'sine=d=2'];
  await make('swapped.aifc', ...sound, '-c:a', 'pcm_s16le', '-f', 'aiff');
  await make('whole.ogg', ...sound, '-c:a', 'libopus');
  const replaced = async (from: string, name: string, to: string) => {
    const bytes = await readFile(at(from));
    bytes.write(to, bytes.indexOf(name), 'latin1');
    await writeFile(at(from), bytes);
  };
  await replaced('swapped.aifc', 'sowt', 'G728');
  await replaced('whole.ogg', 'OpusHead', 'Codec2\0\0');
  for (const name of ['swapped.aifc', 'whole.ogg']) t.equal(await probed(at(name)), 'UNSUPPORTED_CODEC', name);
});

t.test('decode() calls a codec unsupported that ffmpeg decodes as an experiment only, or not at all', async (t) => {
  await make('sonic.mka', '-f', 'lavfi', '-i', 'sine=d=2', '-strict', '-2', '-c:a', 'sonic');
  t.equal(await outcome(at('sonic.mka')), 'UNSUPPORTED_CODEC');
  await writeFile(at('stereo.amr'), Buffer.concat([Buffer.from('#!AMR_MC1.0\n\0\0\0\x02'), Buffer.alloc(6400, `\x3c${'\0'.repeat(31)}`)]));
  t.equal(await outcome(at('stereo.amr')), 'UNSUPPORTED_CODEC', 'AMR with several channels');
});

t.test('decode() keeps what can be decoded of a damaged file', async (t) => {
  const mp3 = await readFile(clip('en_jfk.mp3'));
  await writeFile(at('damaged.mp3'), Buffer.concat([mp3.subarray(0, mp3.length / 2), Buffer.alloc(3000, 0x55)]));
  const seconds = await outcome(at('damaged.mp3'));
  t.ok(Number(seconds) > 4 && Number(seconds) < 7, `${seconds} s`);
});

t.test('decode() counts samples, whatever the file declares', async (t) => {
  t.equal(await outcome(clip('en_jfk.mp3'), { maxSeconds: 5 }), 'RECORDING_TOO_LONG');
  await copyFile(clip('en_falcon_3spk.wav'), at('liar.wav'));
  const file = await open(at('liar.wav'), 'r+');
  await file.write(Buffer.from([255, 255, 255, 255]), 0, 4, 40); // the data length that streaming encoders write
  await file.close();
  t.ok(Math.abs(Number(await outcome(at('liar.wav'))) - 18.58) < 0.01);
});

t.test('decode() returns samples of each channel and their mean, by range, while decoding continues', async (t) => {
  const recording = await decode(clip('en_faster-whisper_stereo_one-speaker-per-channel.wav'));
  t.teardown(() => recording.close());
  const end = await recording.read(0, 79_000, 200_000);
  t.equal(end.length, 1000, 'truncated at the end');
  const [left, right, mix] = await Promise.all([
    recording.read(0, 30_000, 30_400),
    recording.read(1, 30_000, 30_400),
    recording.read('mix', 30_000, 30_400),
  ]);
  t.ok(left.some((sample, i) => Math.abs(sample - right[i]!) > 0.01));
  t.ok(mix.every((sample, i) => Math.abs(sample - (left[i]! + right[i]!) / 2) < 1e-4));
  const wav = await readFile(clip('en_faster-whisper_stereo_one-speaker-per-channel.wav'));
  const data = wav.indexOf('data') + 8;
  t.equal(left[7], wav.readInt16LE(data + 4 * 30_007) / 32768, 'equal to the PCM sample');
  t.equal(await recording.decoded, 80_000);
});

t.test('decode() keeps the times of audio that begins after the video', async (t) => {
  const film = ['-f', 'lavfi', '-i', 'testsrc=d=8:s=64x64:r=5', '-itsoffset', '5', '-f', 'lavfi', '-i', 'sine=d=3:r=16000'];
  await make('late.ts', ...film, '-c:a', 'aac', at('late.mp4'), '-c:a', 'pcm_s16le', at('late.mkv'), '-c:a', 'mp2');
  for (const name of ['late.mp4', 'late.mkv', 'late.ts']) {
    const recording = await decode(at(name));
    t.ok(Math.abs((await recording.decoded) / 16_000 - 8) < 0.1, name);
    const samples = await recording.read(0, 0, 8 * 16_000);
    const first = samples.findIndex((sample) => Math.abs(sample) > 0.02) / 16_000;
    t.ok(Math.abs(first - 5) < 0.1, `${name}: sound starts at ${first} s`);
    await recording.close();
  }
  await make('later.m4a', '-itsoffset', '5', '-f', 'lavfi', '-i', 'sine=d=3', '-c:a', 'aac');
  t.ok(Math.abs(Number(await outcome(at('later.m4a'))) - 3) < 0.1, 'no silence inserted without a video');
  await make('late-half.mkv', ...film.slice(0, 6), '-f', 'lavfi', '-i', 'sine=d=0.5:r=16000', '-c:a', 'pcm_s16le');
  t.equal(await outcome(at('late-half.mkv')), 'RECORDING_TOO_SHORT', 'inserted silence does not count');
});

t.test('probe() and decode() read further if the video of a broadcast, a live stream or a DVD begins long before its audio', async (t) => {
  const film = ['-f', 'lavfi', '-i', 'testsrc2=d=15:s=1280x720:r=25', '-itsoffset', '12', '-f', 'lavfi', '-i', 'sine=d=3:r=44100'];
  const made = { ts: ['mpeg2video', 'aac'], flv: ['flv1', 'mp3'], mpg: ['mpeg1video', 'mp2'] };
  for (const [extension, [picture, sound]] of Object.entries(made)) {
    const name = `pictures-first.${extension}`;
    await make(name, ...film, '-c:v', picture!, '-b:v', '20M', '-q:v', '1', '-c:a', sound!);
    t.ok((await stat(at(name))).size > 8e6);
    t.match(await probe(at(name)), { mediaType: 'video', tracks: [{ index: 1, codec: sound, layout: 'mono' }] });
    t.ok(Math.abs(Number(await outcome(at(name))) - 15) < 0.2, name);
  }
});

t.test('decode() inserts silence where audio is missing', async (t) => {
  const filter = "asetpts='PTS+if(gte(T,2),5/TB,0)'";
  const made = { 'gap.mkv': 'libopus', 'gap.mp4': 'aac', 'gap.ts': 'mp2' };
  for (const [name, codec] of Object.entries(made)) {
    await make(name, '-f', 'lavfi', '-i', 'sine=d=4:r=48000', '-af', filter, '-c:a', codec);
    const recording = await decode(at(name));
    t.ok(Math.abs((await recording.decoded) / 16_000 - 9) < 0.1, name);
    const peak = async (start: number, end: number) => Math.max(...(await recording.read(0, start * 16_000, end * 16_000)));
    t.ok((await peak(1.8, 1.9)) > 0.05 && (await peak(2.1, 6.9)) < 0.01 && (await peak(7.1, 7.2)) > 0.05, name);
    await recording.close();
  }
});

t.test(
  'decode() drops no sound and adds no silence where times run back, drift, jitter or leap beyond the longest recording',
  async (t) => {
    await make('true.mkv', '-f', 'lavfi', '-i', 'sine=d=4:r=48000', '-c:a', 'libopus');
    const seconds = await outcome(at('true.mkv'));
    const times = {
      back: 'if(gte(PTS*TB,2),PTS-1.9/TB,PTS)',
      zero: '0',
      drift: 'PTS*2',
      jitter: 'PTS+mod(N,2)*15',
      leap: 'PTS+gte(PTS*TB,2)*50000/TB',
    };
    for (const [name, time] of Object.entries(times)) {
      await make(`${name}.mkv`, '-i', at('true.mkv'), '-c', 'copy', '-bsf:a', `setts=ts='${time}'`);
      t.equal(await outcome(at(`${name}.mkv`)), seconds, name);
    }
  },
);

t.test('decode() stops at once when aborted', async (t) => {
  await make('long.wav', '-f', 'lavfi', '-i', 'sine=d=3000:r=8000');
  const stop = new AbortController();
  const recording = await decode(at('long.wav'), { signal: stop.signal });
  await recording.read('mix', 0, 16_000);
  stop.abort(new Error('the transcription was deleted'));
  await t.rejects(recording.decoded, { message: 'the transcription was deleted' });
  await t.rejects(recording.read('mix', 0, 16_000 * 3000), { message: 'the transcription was deleted' });
  await recording.close();
});

t.test('probe() reports video only for moving pictures', async (t) => {
  await make('film.mp4', '-f', 'lavfi', '-i', 'testsrc=d=2:s=64x64', '-i', clip('en_jfk.mp3'), '-shortest');
  await make('cover.png', '-f', 'lavfi', '-i', 'testsrc=d=1:s=64x64', '-frames:v', '1');
  await make(
    'covered.mp3',
    '-i',
    clip('en_jfk.mp3'),
    '-i',
    at('cover.png'),
    '-map',
    '0:a',
    '-map',
    '1',
    '-c:a',
    'copy',
    '-disposition:v',
    'attached_pic',
  );
  t.match(await probe(at('film.mp4')), { mediaType: 'video', tracks: [{ index: 1 }] });
  t.match(await probe(at('covered.mp3')), { mediaType: 'audio', tracks: [{ codec: 'mp3', layout: 'mono' }] });
  t.match(await probe(clip('en_falcon_3spk.wav')), { mediaType: 'audio', tracks: [{ layout: 'mono' }], durationSeconds: 18.58 });
  t.match(await probe(clip('en_faster-whisper_stereo_one-speaker-per-channel.wav')), { tracks: [{ layout: 'stereo' }] });
});

t.test('ListingReader parses the stream listing of the installed ffmpeg, whatever tags are between the streams', async (t) => {
  const listingOf = async (name: string) => {
    const { stderr } = await promisify(execFile)(ffmpeg, ['-hide_banner', '-i', at(name)]).catch((error: { stderr: string }) => error);
    const reader = new ListingReader();
    for (let i = 0; i < stderr.length; i += 7) reader.push(stderr.slice(i, i + 7));
    return reader.listing();
  };
  const film = await listingOf('film.mp4');
  t.match(film.streams, [
    { index: 0, type: 'video', layout: '', cover: false, default: true, language: null },
    { index: 1, type: 'audio', codec: 'aac', layout: 'mono', default: true },
  ]);
  t.ok(Math.abs(film.durationSeconds! - 2) < 0.1);
  t.match((await listingOf('covered.mp3')).streams, [
    { type: 'audio', codec: 'mp3', cover: false },
    { type: 'video', codec: 'png', cover: true },
  ]);
  const tags = ['-metadata', `comment=${'long '.repeat(20_000)}`, '-metadata', 'title=x\n  Stream #0:7: Audio: opus, 1 Hz, mono'];
  const second = ['-map', '0:a', '-map', '0:a', '-metadata:s:a:0', 'language=deu', '-disposition:a:0', '0', '-disposition:a:1', 'default'];
  await make('tagged.mkv', '-i', clip('en_jfk.mp3'), ...second, ...tags, '-t', '1', '-ac', '6', '-c:a', 'pcm_s16le');
  t.match((await listingOf('tagged.mkv')).streams, [
    { index: 0, layout: '5.1', default: false, language: 'de' },
    { index: 1, layout: '5.1', default: true },
  ]);
  t.equal((await listingOf('tagged.mkv')).streams.length, 2);
});

t.test('lookUp() rejects versions of ffmpeg without what decoding needs', async (t) => {
  const versions = { '4.3.9-0+deb11u1': false, 'n4.4.2': true, '10.0': true, 'N-118000-gabc': true };
  for (const [version, accepted] of Object.entries(versions)) {
    await writeFile(at(`ffmpeg-${version}`), `#!/bin/sh\necho 'ffmpeg version ${version} Copyright'\n`, { mode: 0o755 });
    const looked = lookUp({ FFMPEG_PATH: at(`ffmpeg-${version}`) });
    if (accepted) t.match(await looked, { version });
    else await t.rejects(looked, { message: /is version 4\.3\.9.*, 4\.4 or newer is required/ });
  }
});

t.test('lookUp() names the remedy if there is no ffmpeg', async (t) => {
  await t.rejects(lookUp({ FFMPEG_PATH: '/nowhere/ffmpeg' }), { message: /not found at FFMPEG_PATH=.*apt-get install ffmpeg/ });
  const { version, decoders } = await lookUp({ PATH: process.env.PATH });
  t.match(version, /\d/);
  for (const sound of ['aac', 'mp3float', 'opus', 'pcm_s16le', 'flac']) t.ok(decoders.split(',').includes(sound), sound);
  for (const picture of ['h264', 'png', 'mjpeg', 'ass', 'subrip']) t.notOk(decoders.split(',').includes(picture), picture);
});

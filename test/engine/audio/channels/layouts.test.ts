/* Random channels, tracks and layouts with sound on one channel of one track, which must be decoded. LAYOUTS=n: number of cases; SEED=n repeats a run. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { arranged } from '../../../../engine/audio/channels/arranged.ts';
import { partiesOf } from '../../../../engine/audio/channels/parties.ts';
import { decode, probe } from '../../../../engine/audio/decode.ts';
import type { Recording } from '../../../../engine/types.ts';
import { SEED } from '../../../support/seeded.ts';
import { each, ffmpeg, random } from '../../hostile/bench.ts';

const CASES = Number(process.env.LAYOUTS ?? 12);
const RATE = 16_000;
const LOUD = 0.5;
const APART = 16; // number of channels that are kept separate; more are mixed
const LAYOUTS: Record<number, string[]> = {
  1: ['mono'],
  2: ['stereo', 'downmix'],
  3: ['2.1', '3.0', '3.0(back)'],
  4: ['quad', '4.0', '3.1', 'quad(side)'],
  5: ['5.0', '5.0(side)', '4.1'],
  6: ['5.1', '5.1(side)', '6.0', 'hexagonal'],
  7: ['6.1', '7.0', '6.1(back)'],
  8: ['7.1', '7.1(wide)', 'octagonal'],
  16: ['hexadecagonal'],
};
const NOT_AC3 = ['downmix', '6.0', 'hexagonal']; // which ffmpeg converts to layouts with other channels
/** Container, codec and their maximum number of channels. */
const FORMS: [extension: string, codec: string, channels: number][] = [
  ['wav', 'pcm_s16le', 64],
  ['w64', 'pcm_s24le', 64],
  ['caf', 'pcm_f32be', 64],
  ['aiff', 'pcm_s16be', 64],
  ['mka', 'pcm_f32le', 64],
  ['mov', 'pcm_s16le', 64],
  ['flac', 'flac', 8],
  ['mka', 'flac', 8],
  ['m4a', 'aac', 8],
  ['opus', 'libopus', 2],
  ['mka', 'ac3', 6],
  ['mp4', 'aac', 6],
];
const SEVERAL = new Set(['mka', 'mov', 'mp4']);

interface Case {
  name: string;
  args: string[];
  channels: number[]; // per track
}

const folder = t.testdir();

/** A tone of 1.5 s on one channel and silence on the others, as interleaved 16-bit samples. */
function sound(channels: number, sounding: number | null): Buffer {
  const samples = new Int16Array(1.5 * RATE * channels);
  if (sounding !== null) for (let i = 0; i < 1.5 * RATE; i++) samples[i * channels + sounding] = LOUD * 32_767 * Math.sin(i / 4);
  return Buffer.from(samples.buffer);
}

function caseOf(seed: number): Case {
  const chance = random(seed);
  const pick = <T>(from: readonly T[]) => from[Math.floor(chance() * from.length)]!;
  const [extension, codec, most] = pick(FORMS);
  const tracks = SEVERAL.has(extension) ? 1 + Math.floor(chance() * 4) : 1;
  const channels = Array.from({ length: tracks }, () => 1 + Math.floor(chance() ** 2 * (tracks > 1 ? Math.min(most, 6) : most)));
  const loudTrack = Math.floor(chance() * tracks);
  const inputs = channels.flatMap((count, track) => {
    const raw = join(folder, `raw-${seed}-${track}`);
    writeFileSync(raw, sound(count, track === loudTrack ? Math.floor(chance() * count) : null));
    return ['-f', 's16le', '-ar', String(RATE), '-ac', String(count), '-i', raw];
  });
  const maps = channels.flatMap((_, track) => ['-map', `${track}:a`]);
  const layouts = tracks === 1 && chance() < 0.5 ? LAYOUTS[channels[0]!] : undefined;
  const known = layouts?.filter((name) => codec !== 'ac3' || !NOT_AC3.includes(name));
  const layout = known ? ['-af', `pan=${pick(known)}|${Array.from({ length: channels[0]! }, (_, c) => `c${c}=c${c}`).join('|')}`] : [];
  const name = `${seed} ${codec} ${extension} ${channels.join('+')} ${layout[1]?.split('|')[0] ?? ''}`;
  const chosen = ['-disposition:a', '0', `-disposition:a:${Math.floor(chance() * tracks)}`, 'default'];
  return {
    name,
    args: [...inputs, ...maps, ...layout, ...chosen, '-c:a', codec, '-strict', '-2', join(folder, `${seed}.${extension}`)],
    channels,
  };
}

/** Peak of a file decoded by ffmpeg without downmixing. It can be 0: codecs low-pass a channel that they treat as LFE. */
async function loudestOf(path: string, tracks: number): Promise<number> {
  let loudest = 0;
  for (let track = 0; track < tracks; track++) {
    const raw = `${path}-${track}.raw`;
    await ffmpeg('-i', path, '-map', `0:a:${track}`, '-c:a', 'pcm_f32le', '-f', 'f32le', raw).catch(() => writeFileSync(raw, ''));
    for (const x of new Float32Array(Uint8Array.from(readFileSync(raw)).buffer)) loudest = Math.max(loudest, Math.abs(x));
    rmSync(raw);
  }
  return loudest;
}

t.test(`decode() and partiesOf() find the one channel with sound, in ${CASES} layouts`, async (t) => {
  t.comment(`SEED=${SEED}`);
  let made = 0;
  await each(
    Array.from({ length: CASES }, (_, i) => SEED + i),
    async (seed) => {
      const { name, args, channels } = caseOf(seed);
      const written = await ffmpeg(...args).then(
        () => true,
        () => false, // the codec does not support this layout
      );
      if (!written) return;
      made++;
      let recording: Recording | undefined;
      try {
        recording = await decode(args.at(-1)!);
        const length = await recording.decoded;
        const { parties } = await partiesOf(recording);
        const voices = arranged(recording, parties);
        let loudest = 0;
        for (const channel of parties.keys())
          for (const x of await voices.read(channel, 0, length)) loudest = Math.max(loudest, Math.abs(x));
        const most = Math.floor(APART / channels.length);
        const { tracks } = await probe(args.at(-1)!);
        const kept = channels.map((count, track) => (count > most && tracks[track]!.surround ? 1 : Math.min(count, most)));
        const total = kept.reduce((sum, count) => sum + count);
        t.equal(recording.channels, total, `${name}: channels`);
        const mixed = Math.max(...channels.map((count) => (count > most ? count : 1)));
        const there = await loudestOf(args.at(-1)!, channels.length);
        t.ok(there < LOUD / 4 || loudest > (0.6 * there) / mixed, `${name}: ${loudest} of ${there}`);
      } catch (error) {
        t.equal(await loudestOf(args.at(-1)!, channels.length), 0, `${name}: ${(error as Error).message}`);
      } finally {
        await recording?.close();
      }
    },
  );
  t.ok(made > CASES / 2, `${made} of ${CASES} could be written`);
});

t.test('decode() and partiesOf() find a voice that two of very many channels have in opposite phase', async (t) => {
  const samples = sound(24, 4);
  for (let at = 0; at < samples.length; at += 48) samples.writeInt16LE(-samples.readInt16LE(at + 8), at + 10);
  const [raw, path] = [join(folder, 'opposite.raw'), join(folder, 'opposite.wav')];
  writeFileSync(raw, samples);
  await ffmpeg('-f', 's16le', '-ar', String(RATE), '-ac', '24', '-i', raw, path);
  const recording = await decode(path);
  t.teardown(() => recording.close());
  await recording.decoded;
  t.equal(recording.channels, APART);
  const { parties } = await partiesOf(recording);
  const heard = await arranged(recording, parties).read(0, 0, RATE);
  t.ok(
    heard.some((x) => Math.abs(x) > LOUD / 4),
    `the parties are ${JSON.stringify(parties)}`,
  );
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isContinuous } from '../../../../engine/audio/containers/continuous.ts';
import { decode } from '../../../../engine/audio/decode.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';
import { ffmpeg } from '../../hostile/bench.ts';

const folder = t.testdir();
const at = (name: string) => join(folder, name);
const SECONDS = 712;
/** Sound of 6 s before a pause of 694 s and of 6 s after it: a tick of 20 ms at every whole second. */
const SOUND = ['-f', 'lavfi', '-i', "aevalsrc='0.5*sin(5000*t)*lt(mod(t,1),0.02)+0.002*(random(0)-0.5):s=44100:d=12'"];
const MUTED = ['-af', "asetpts='PTS+gte(T,5.5)*694/TB'", '-c:a', 'aac'];
const PICTURES = ['-f', 'lavfi', '-i', `color=s=64x64:r=2:d=${SECONDS}`];

async function lastTick(name: string): Promise<number> {
  const recording = await decode(at(name));
  try {
    const length = await recording.decoded;
    const samples = await recording.read('mix', 0, length);
    return samples.findLastIndex((sample) => Math.abs(sample) > 0.15) / SAMPLE_RATE;
  } finally {
    await recording.close();
  }
}

const continuous = (name: string, format: string) => isContinuous(at(name), format, { start: 0, end: readFileSync(at(name)).length });

t.test('decode() keeps a pause of 11 minutes beside pictures in FLV and MPEG-TS', async (t) => {
  await ffmpeg(...PICTURES, ...SOUND, ...MUTED, '-c:v', 'flv', '-max_interleave_delta', '0', at('muted.flv'));
  await ffmpeg('-i', at('muted.flv'), '-c:a', 'copy', '-c:v', 'mpeg2video', '-max_interleave_delta', '0', at('muted.ts'));
  await ffmpeg('-i', at('muted.flv'), '-c:a', 'copy', '-c:v', 'mpeg2video', '-mpegts_m2ts_mode', '1', at('muted.m2ts'));
  for (const name of ['muted.flv', 'muted.ts', 'muted.m2ts']) {
    const last = await lastTick(name);
    t.ok(Math.abs(last - 705) < 0.1, `${name}: ${last}`);
  }
});

t.test('isContinuous() finds a leap of all streams, in FLV and MPEG-TS', async (t) => {
  for (const [name, format] of [
    ['flv', 'flv'],
    ['ts', 'mpegts'],
  ] as const) {
    await ffmpeg('-t', '4', ...PICTURES, '-t', '4', ...SOUND, ...(name === 'flv' ? ['-c:v', 'flv'] : []), at(`now.${name}`));
    t.ok(await continuous(`now.${name}`, format), name);
    await ffmpeg(...SOUND, ...MUTED, at(`alone.${name}`));
    t.notOk(await continuous(`alone.${name}`, format), `${name}: there is nothing else`);
  }
  await ffmpeg('-t', '4', ...PICTURES, '-t', '4', ...SOUND, '-output_ts_offset', '900', at('later.ts'));
  writeFileSync(at('both.ts'), Buffer.concat(['now.ts', 'later.ts'].map((name) => readFileSync(at(name)))));
  t.notOk(await continuous('both.ts', 'mpegts'), 'a stream from another time');
  t.ok(Math.abs((await lastTick('both.ts')) - 7) < 0.2);
  writeFileSync(at('nothing'), Buffer.alloc(5000));
  for (const format of ['flv', 'mpegts', 'mpeg', 'wtv']) t.notOk(await continuous('nothing', format), format);
});

/* Files with a tick at every whole second. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { decode } from '../../../engine/audio/decode.ts';
import { SAMPLE_RATE } from '../../../engine/types.ts';
import { ffmpeg } from '../hostile/bench.ts';

export const TICKS = '0.5*sin(5000*t)*lt(mod(t,1),0.02)'; // of 20 ms

/** Files in a folder of the test. */
export function tickFiles(t: Pick<Test, 'testdir'>) {
  const folder = t.testdir();
  const at = (name: string) => join(folder, name);
  const file = (name: string, seconds: number, channels: number, rate: number, ...codec: string[]) =>
    ffmpeg('-f', 'lavfi', '-i', `aevalsrc='${TICKS}':s=${rate}:d=${seconds}`, '-ac', String(channels), ...codec, at(name));
  /** Writes files one after the other into one. */
  const joined = (name: string, ...parts: string[]) => writeFileSync(at(name), Buffer.concat(parts.map((part) => readFileSync(at(part)))));
  return { at, file, joined, check: (t: Test, name: string, seconds: number, channels: number) => check(t, at(name), seconds, channels) };
}

/** Checks that every channel has a tick at every whole second, and no other. */
async function check(t: Test, path: string, seconds: number, channels: number): Promise<void> {
  const recording = await decode(path);
  t.teardown(() => recording.close());
  const length = await recording.decoded;
  t.ok(Math.abs(length / SAMPLE_RATE - seconds) < 0.1, `${path}: ${length / SAMPLE_RATE} s`);
  t.equal(recording.channels, channels, path);
  for (const channel of [...Array(channels).keys(), 'mix' as const]) {
    const found: number[] = [];
    for (const [i, sample] of (await recording.read(channel, 0, length)).entries())
      if (Math.abs(sample) > 0.1 && i / SAMPLE_RATE - (found.at(-1) ?? -1) > 0.3) found.push(i / SAMPLE_RATE);
    t.strictSame(
      found.map((second) => Math.round(second)),
      Array.from({ length: seconds }, (_, second) => second),
      `${path}: ${channel}`,
    );
  }
}

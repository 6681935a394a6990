/*
 * Writes the samples at the rate of the models of the first clips of at most 25 s, as the engine hears them: FOLDER/clips/CLIP.f32.
 * Usage: clips.ts FOLDER [COUNT]
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clips } from '../../../bench/recordings/clips.ts';
import { SAMPLE_RATE } from '../../../models/sample-rate.ts';

const LONGEST = 25; // seconds: the window of these models

const [folder, count = '50'] = process.argv.slice(2);
const target = join(folder!, 'clips');
mkdirSync(target, { recursive: true });
const chosen = clips()
  .filter(({ seconds }) => seconds <= LONGEST)
  .slice(0, Number(count));
for (const { path, file } of chosen) {
  const command = ['-v', 'error', '-i', path, '-ac', '1', '-ar', String(SAMPLE_RATE), '-f', 'f32le', '-'];
  writeFileSync(join(target, `${file}.f32`), execFileSync('ffmpeg', command, { maxBuffer: 2 ** 26 }));
}
process.stdout.write(`${chosen.length} clips, ${Math.round(chosen.reduce((sum, { seconds }) => sum + seconds, 0))} s\n`);

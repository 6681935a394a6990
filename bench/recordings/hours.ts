/**
 * Creates the recordings of `bench long`: HOUR LONG NOTE HOURS writes one hour of two speakers, that hour repeated HOURS times in one file,
 * and its first 5 seconds.
 */
import { conversation } from './conversations.ts';
import { repeatWav, SAMPLE_RATE, writeWav } from './sound.ts';

const [hour, long, note, hours] = process.argv.slice(2) as [string, string, string, string];
const { samples } = await conversation(7, { speakers: 2, seconds: 3600, overlaps: 0.05 });
await writeWav(hour, samples.subarray(0, 3600 * SAMPLE_RATE));
await repeatWav(hour, long, Math.ceil(Number(hours)));
await writeWav(note, samples.subarray(0, 5 * SAMPLE_RATE));

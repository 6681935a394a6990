/**
 * How far the confidence of words can be relied on: `node --import tsx bench/accuracy/confidence.ts [--fit] [--save]`. Reports the reliability on the
 * test set; `--fit` first fits the map of models/thresholds.ts to the tuning set and prints it; `--save` writes
 * bench/results/confidence.json and docs/images/confidence.svg.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { logistic, logit, uncalibrated } from '../../engine/asr/whisper/timing/calibration.ts';
import { openPool, type Pool } from '../../engine/runtime/pool.ts';
import { readWhisper } from '../../models/descriptor.ts';
import { SHIPPED_FOLDER } from '../../models/manifest.ts';
import { matches } from '../errors/align.ts';
import { englishWords, unitsOf } from '../errors/normalise.ts';
import { type Clip, DATA, englishClips, foreignClips, type Split } from '../recordings/clips.ts';
import { samplesOf, telephone, writeWav } from '../recordings/sound.ts';
import { scratchFolder } from '../scratch.ts';
import { transcript } from '../speed/measure.ts';
import { type ConfidenceResults, fitLogistic, type Judged, reliability } from './reliability.ts';
import { reliabilityPlot } from './reliability-plot.ts';

/** Each clip as recorded, and over the telephone band. In white noise 10 dB below speech the token probability is calibrated as it is. */
const VERSIONS: ((samples: Float32Array) => Float32Array)[] = [(samples) => samples, telephone];

export function clipsOf(split: Split): Clip[] {
  return [...englishClips(DATA, split), ...foreignClips(DATA, split)];
}

/** Every recognised word of a set: its confidence, and whether it matches the reference transcript. */
export async function judgedWords(pool: Pool, list: readonly Clip[]): Promise<Judged[]> {
  const folder = scratchFolder('confidence');
  const path = join(folder, 'clip.wav');
  const judged: Judged[] = [];
  try {
    for (const clip of list) {
      const samples = await samplesOf(clip.path);
      for (const version of VERSIONS) {
        await writeWav(path, version(samples));
        const { segments } = await transcript(path, pool, { language: clip.language, diarize: false });
        judged.push(
          ...judge(
            clip,
            segments.flatMap(({ words }) => words),
          ),
        );
      }
    }
    return judged;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A word is right if all its units (normalised words, or characters in languages without spaces) match the reference. */
export function judge(clip: Pick<Clip, 'language' | 'transcript'>, words: readonly { text: string; probability: number }[]): Judged[] {
  const units = (text: string) => (clip.language === 'en' ? text.split(/\s+/).flatMap(englishWords) : unitsOf(text, clip.language));
  const heard = words.flatMap((word) => units(word.text).map((unit) => ({ unit, word })));
  const pairs = matches(
    units(clip.transcript),
    heard.map(({ unit }) => unit),
  );
  const matched = new Set(pairs.map(([, at]) => at));
  const wrong = new Set(heard.flatMap(({ word }, at) => (matched.has(at) ? [] : [word])));
  return [...new Set(heard.map(({ word }) => word))].map((word) => ({ confidence: word.probability, right: !wrong.has(word) }));
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { fit: { type: 'boolean', default: false }, save: { type: 'boolean', default: false } } });
  const whisper = join(SHIPPED_FOLDER, 'whisper-base');
  const { confidence } = readWhisper(whisper).thresholds;
  const pool = await openPool({
    models: { whisper, diarization: join(SHIPPED_FOLDER, 'diarization') },
    threads: 2,
  });
  try {
    const measured = async (split: Split) => {
      const list = clipsOf(split);
      const raw = (await judgedWords(pool, list)).map((word) => ({ ...word, confidence: uncalibrated(word.confidence, confidence) }));
      return { clips: list.length, raw };
    };
    const tuning = values.fit ? await measured('tuning') : null;
    const map = tuning ? fitLogistic(tuning.raw) : confidence;
    const under = ({ clips, raw }: { clips: number; raw: Judged[] }) => ({
      clips,
      before: reliability(raw),
      after: reliability(raw.map((word) => ({ ...word, confidence: logistic(map.slope * logit(word.confidence) + map.intercept) }))),
    });
    const results: ConfidenceResults = {
      what: 'words of Whisper base in 8 bits; clips of bench/data as recorded and over the telephone band',
      map,
      test: under(await measured('test')),
      ...(tuning && { tuning: under(tuning) }),
    };
    console.log(JSON.stringify(results, null, 2));
    if (!values.save) return;
    await writeFile(new URL('../results/confidence.json', import.meta.url), `${JSON.stringify(results, null, 2)}\n`);
    await writeFile(new URL('../../docs/images/confidence.svg', import.meta.url), reliabilityPlot(results));
  } finally {
    await pool.close();
  }
}

if (fileURLToPath(import.meta.url) === process.argv[1]) await main();

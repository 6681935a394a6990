import path from 'node:path';
import { parseRouting } from '../../api/contract/routing.ts';
import type { Settings } from '../../api/contract/settings.ts';
import { SECONDS } from '../../bench/models/check.ts';
import { checkModelApart } from '../../bench/models/check-apart.ts';
import { probe } from '../../bench/models/probe.ts';
import { BUSY_HOUR, size } from '../../bench/sizing.ts';
import { readMachine, threadsFor } from '../../engine/runtime/machine.ts';
import type { Variant } from '../../models/build/graph/graph.ts';
import { isInt8 } from '../../models/build/whisper/config.ts';
import { checkFrom, type Measure, rateOf } from '../../models/checks/self-check.ts';
import { builtFrom } from '../../models/choosing/catalogue.ts';
import { checkHere, englishRate, keepCheck } from '../../models/choosing/choose.ts';
import { fittingModel } from '../../models/choosing/fit.ts';
import { type Check, languagesOf } from '../../models/descriptor.ts';
import type { ImportOptions } from '../../models/install/making.ts';
import { SHIPPED_FOLDER } from '../../models/manifest.ts';
import { listModels, type Model } from '../../models/store.ts';
import { sentence } from './sentence.ts';

const GIB = 2 ** 30;
const MEAN_MINUTES = 10; // assumed length of a recording
const DIARIZATION = 1; // minutes of a thread per hour of audio: 0.7 and 1.1 on the machines of docs/results.md
const NONE = 'not measured';

/** The self-check with the configured number of threads, each in a process of its own. */
export function measureHere(settings: Settings, signal?: AbortSignal): Measure {
  const options = { diarization: path.join(SHIPPED_FOLDER, 'diarization'), threads: settings.LONGHAND_THREADS };
  return (folder, { speed } = {}) => checkModelApart(folder, { ...options, speed }, signal);
}

/** Runs measuring encoders with the configured number of threads. */
export function probeHere(settings: Settings): ImportOptions['probe'] {
  return (network, hop) => probe(network, hop, settings.LONGHAND_THREADS ?? readMachine().cores);
}

/** The setting by which the service uses a model, or null. */
export function settingOf(name: string, settings: Settings): 'LONGHAND_MODEL' | 'LONGHAND_MODELS' | null {
  const { LONGHAND_MODEL, LONGHAND_MODELS } = settings;
  if (LONGHAND_MODELS) {
    const { byLanguage, others } = parseRouting(LONGHAND_MODELS);
    if (others === name || [...byLanguage.values()].includes(name)) return 'LONGHAND_MODELS';
  }
  return LONGHAND_MODEL === name ? 'LONGHAND_MODEL' : null;
}

const MEASUREMENTS = 4; // of 8 bits, float32, and two faster recipes: of a large model no more fit into the time

/** How long the self-check of an import takes at most, besides building: with a large model on a slow machine. Only 8 bits are compared. */
export function longestCheck(quick = false, variant: Variant = 'int8'): string {
  const minutes = (count: number) => Math.ceil((count * SECONDS) / 60);
  if (quick || !isInt8(variant)) return `self-check: at most ${minutes(1)} minutes`;
  return `self-check: at most ${minutes(MEASUREMENTS)} minutes, more if 8 bits lose accuracy; with --quick ${minutes(1)}`;
}

/** Every model with its memory, and its accuracy on this machine, and whether it can process a number of hours of audio per day. */
export async function table(settings: Settings, hours: number | null = null) {
  const models = await listModels(settings.LONGHAND_HOME);
  return models.map((model) => row(model, checkHere(model, settings.LONGHAND_HOME), hours, settings.LONGHAND_THREADS));
}

function row(model: Model, check: Check | undefined, hours: number | null, asked?: number) {
  const { name, kind, variant = null, licence, shipped, files, descriptor, folder } = model;
  const published = builtFrom(model)?.published;
  const wer = englishRate(check);
  const recogniser = kind !== 'diarization';
  return {
    name,
    kind,
    variant,
    languages: descriptor ? languagesOf(descriptor).length : null,
    licence,
    attribution: descriptor && 'attribution' in descriptor ? descriptor.attribution : null,
    mb: Math.round(files.reduce((sum, file) => sum + file.bytes, 0) / 1e6),
    gib_a_thread: descriptor ? Number((descriptor.memory.thread / GIB).toFixed(2)) : null,
    rtfx_here: check ? Math.round(check.rtfx) : recogniser ? NONE : null,
    wer_here: wer === undefined ? (recogniser ? NONE : null) : `${(100 * wer).toFixed(1)} %`,
    wer_published: published ? `${published.wer} % LibriSpeech test-other, ${published.source}` : null,
    ...(hours === null
      ? {}
      : { carries: check && descriptor ? carries(hours, check, descriptor.memory.thread, asked) : recogniser ? NONE : null }),
    shipped,
    folder,
  };
}

/** Whether this machine with a model keeps the p95 of waits in the busy hour short. */
function carries(hours: number, { rtfx, machine }: Check, threadBytes: number, asked?: number): string {
  const threads = asked ?? threadsFor(readMachine(), threadBytes);
  const measured = Number(/(\d+) threads$/.exec(machine)?.[1] ?? threads);
  const speed = rtfx * Math.min(1, threads / measured);
  const host = { cores: threads, minutesPerHour: 60 / speed + DIARIZATION / threads, gib: Math.ceil((threads * threadBytes) / GIB + 1) };
  const { hosts, wait } = size({ hoursPerDay: hours, meanMinutes: MEAN_MINUTES, busyHour: BUSY_HOUR }, host);
  return hosts <= 1 ? `yes (p95 of the wait under ${Math.ceil(wait.p95)} s)` : `no, ${hosts} such machines`;
}

/**
 * Measures models and stores the results. One that cannot be measured does not keep back the others: the reason is printed. Figures that cannot be
 * stored, as in a read-only folder, are returned all the same.
 */
export async function checkAll(settings: Settings, names: string[], measure = measureHere(settings)) {
  const home = settings.LONGHAND_HOME;
  const chosen = names.length ? names : (await listModels(home)).filter(({ kind }) => kind !== 'diarization').map(({ name }) => name);
  const rows: object[] = [];
  let failed = 0;
  const attempt = async (what: string, work: () => unknown) => {
    try {
      await work();
    } catch (error) {
      failed++;
      process.stderr.write(`Cannot ${what}: ${sentence(error)}\n`);
    }
  };
  for (const name of chosen) {
    process.stderr.write(`checking ${name}\n`);
    await attempt(`check ${name}`, async () => {
      const { folder } = await fittingModel(name, home);
      const check = checkFrom(await measure(folder));
      rows.push({ name, ...figures(check) });
      await attempt(`store the figures of ${name}`, () => keepCheck(name, home, check));
    });
  }
  return { rows, failed };
}

/** Description of a newly built model. */
export function summary({ name, variant, folder, source, descriptor }: Model) {
  const check = descriptor?.check;
  const attribution = descriptor && 'attribution' in descriptor ? { attribution: descriptor.attribution } : {};
  return { name, variant: variant ?? null, folder, source, ...attribution, ...(check ? figures(check) : { checked: false }) };
}

function figures({ rates, reference, invented, rtfx, threadBytes }: Check) {
  const percent = (rate: number) => `${(100 * rate).toFixed(1)} %`;
  return {
    error_rates: rates.map(({ language, words, errors }) => `${language} ${percent(errors / Math.max(1, words))}`).join(', '),
    all_languages: percent(rateOf(rates)),
    float32: reference ? percent(rateOf(reference)) : null,
    invented_words: invented,
    rtfx: Number(rtfx.toFixed(1)),
    mb_a_thread: Math.round(threadBytes / 1e6),
  };
}

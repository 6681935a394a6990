import { findSpeech } from './asr/speech.ts';
import { packingFor, packWindows, quietestOf } from './asr/windows.ts';
import { arranged } from './audio/channels/arranged.ts';
import { type Parties, type Party, partiesOf } from './audio/channels/parties.ts';
import { withoutHum } from './audio/signals/notched.ts';
import { withEdges } from './audio/signals/tone-edges.ts';
import { findTones } from './audio/signals/tones.ts';
import { masked } from './diarization/mask.ts';
import { FIRST_FRAME_SECONDS, FRAME_SECONDS } from './diarization/pyannote.ts';
import { type Activity, observe, speechProbability } from './diarization/segmentation.ts';
import type { Progress } from './progress.ts';
import type { Job, Pool } from './runtime/pool.ts';
import type { Options, Recording, Span, Window } from './types.ts';
import { SAMPLE_RATE } from './types.ts';

/** One audio stream with its detected speech. */
export interface Stream {
  channel: number | 'mix';
  activity: Activity;
  windows: Window[];
}

/** The streams of a recording in which somebody speaks. */
export interface Heard {
  /** One channel per party; `channel` of a stream refers to these. */
  byParty: Recording;
  /** Several only if each is one party; a single one masked windows if nobody speaks. */
  streams: Stream[];
  /** Known number of speakers in them, or null. */
  speakers: number | null;
}

interface Tools {
  job: Job;
  pool: Pool;
  progress: Progress;
  signal: AbortSignal;
}

const SPOKEN_SHARE = 0.5; // of the progress, for finding the parties of which anybody speaks

/**
 * Detects the speech of a recording: in one stream, or in one per party of a call. Where a loud channel has none, such as a time code, others
 * that are far quieter than it are listened to as well.
 */
export async function hear(recording: Recording, options: Options, tools: Tools): Promise<Heard> {
  const unspoken = new Set<number>();
  let found = await partiesOf(recording, tools.signal);
  for (;;) {
    const { spoken, ...heard } = await hearParties(recording, found, options, tools);
    const channels = found.parties.flat();
    const loud = channels.filter((channel) => !spoken.includes(channel));
    if (!found.silent || !loud.length) return heard;
    for (const channel of loud) unspoken.add(channel);
    found = await partiesOf(recording, tools.signal, unspoken);
    if (found.parties.flat().every((channel) => channels.includes(channel))) return heard;
  }
}

/** The streams of these parties, and the channels of those who speak. */
async function hearParties(recording: Recording, found: Parties, options: Options, tools: Tools): Promise<Heard & { spoken: Party }> {
  const isApart = ({ length }: readonly Party[]) =>
    length > 1 && options.diarize && (options.speakers === null || options.speakers === length);
  // channels without speech would only add noise to a mix
  const screened = found.parties.length > 1 && (recording.origins !== undefined || !isApart(found.parties));
  const parties = screened ? await spoken(recording, found.parties, tools) : found.parties;
  const byParty = withoutHum(arranged(recording, parties));
  const apart = isApart(parties);
  const channels = apart ? [...parties.keys()] : ['mix' as const];
  const coarse = !options.diarize || apart; // channels already identify the speakers
  const before = screened ? SPOKEN_SHARE : 0;
  let whole = false; // progress is unknown until then
  recording.decoded.then(
    () => (whole = true),
    () => {}, // handled by readers
  );
  const look = (channel: Stream['channel'], coarsely: boolean, i = 0) => {
    const onProgress = (seconds: number) => {
      if (whole) tools.progress.heard(before + ((1 - before) * (i + (seconds * SAMPLE_RATE) / recording.length)) / channels.length);
    };
    return listen(byParty, channel, tools, coarsely, onProgress);
  };
  const streams: Stream[] = [];
  for (const [i, channel] of channels.entries()) {
    const activity = await look(channel, coarse, i);
    const speech = findSpeech(speechProbability(activity), FRAME_SECONDS, FIRST_FRAME_SECONDS);
    const packing = packingFor(tools.pool.windowSeconds);
    const windows = await packWindows(speech, channel, byParty.length / SAMPLE_RATE, quietestOf(byParty, channel), packing);
    streams.push({ channel, activity, windows });
  }
  const speaking = streams.filter(({ windows }) => windows.length);
  const [only = streams[0]!, ...others] = speaking;
  if (apart && speaking.length === 1) only.activity = await look(only.channel, false); // there may be several people on that side
  return {
    byParty,
    streams: [only, ...others],
    speakers: speakersIn(found, speaking.length, apart, options),
    spoken: speaking.flatMap(({ channel }) => (channel === 'mix' ? parties.flat() : parties[channel]!)),
  };
}

/**
 * The parties who speak. Tracks declared to be in different languages are versions of the same audio: then those in the language that
 * players select.
 */
async function spoken(recording: Recording, parties: Party[], tools: Tools): Promise<Party[]> {
  const byParty = withoutHum(arranged(recording, parties));
  const speaking: number[] = [];
  for (const channel of parties.keys()) {
    const activity = await listen(byParty, channel, tools, true, (seconds) => {
      tools.progress.heard((SPOKEN_SHARE * (channel + (seconds * SAMPLE_RATE) / recording.length)) / parties.length);
    });
    if (findSpeech(speechProbability(activity), FRAME_SECONDS, FIRST_FRAME_SECONDS).spans.length) speaking.push(channel);
  }
  const origin = (channel: number) => byParty.origins?.[channel];
  const first = speaking.find((channel) => origin(channel)?.default) ?? speaking[0];
  if (first === undefined) return parties.slice(0, 1);
  const languageOf = (channel: number) => origin(channel)?.language ?? null;
  const foreign = (channel: number) =>
    languageOf(first) !== null && languageOf(channel) !== null && languageOf(channel) !== languageOf(first);
  return speaking.filter((channel) => !foreign(channel)).map((channel) => parties[channel]!);
}

/** Voice activity in one channel, machine signals masked. */
async function listen(
  byParty: Recording,
  channel: Stream['channel'],
  { job, pool, signal }: Tools,
  coarse: boolean,
  onProgress?: (seconds: number) => void,
): Promise<Activity> {
  const [activity, tones] = await Promise.all([
    observe(byParty, channel, job.segment, { signal, onProgress, concurrency: pool.threads * 2, coarse }),
    byParty.decoded.then(() => signals(byParty, channel, signal)), // on this thread, while others run the model
  ]);
  return masked(activity, tones);
}

/** Machine signals with the silence beside them. */
async function signals(byParty: Recording, channel: Stream['channel'], signal: AbortSignal): Promise<Span[]> {
  return withEdges(await findTones(byParty, channel, signal), byParty, channel, signal);
}

/** A number of speakers given for a call counts its parties: if some are silent, the number of people on the other side is unknown. */
function speakersIn({ parties, silent }: Parties, speaking: number, apart: boolean, { speakers }: Options): number | null {
  const fewer = silent || (apart && speaking < parties.length);
  return fewer && speakers !== null && speakers > 1 ? null : speakers;
}

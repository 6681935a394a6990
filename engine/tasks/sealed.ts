import { milli } from '../../api/contract/seconds.ts';
import type { ClaimedTranscription } from '../../db/jobs/claim.ts';
import type { Finished } from '../../db/jobs/complete.ts';
import { hashWords } from '../../db/search/keep.ts';
import type { Vault } from '../../db/secrets/vault.ts';
import { confidenceOf, confidenceOfAll } from '../transcript/confidence.ts';
import type { Segment, Transcript } from '../types.ts';

/** Title, summary, topics and speaker names (by speaker index) from the AI layer. */
export interface Layer {
  title: string;
  summary: string;
  /** Absent: written by a courier of an earlier version. */
  writer?: 'model' | 'extractive';
  topics: string[];
  names: Map<number, string>;
}

const BLOCK = 200; // turns encrypted together

/** A transcript in the form stored in the database: text and names are encrypted. */
export async function sealed(vault: Vault, claim: ClaimedTranscription, transcript: Transcript, layer: Layer | null): Promise<Finished> {
  const { id, workspaceId } = claim.lease;
  const seal = (place: string, value: unknown) => vault.seal(workspaceId, place, typeof value === 'string' ? value : JSON.stringify(value));
  const speakers = Array.from({ length: transcript.diarized ? transcript.speakers : 0 }, (_, speaker) => ({
    id: speakerId(speaker),
    ai_name: layer?.names.get(speaker) ?? null,
    name: null,
  }));
  const blocks = [];
  for (let at = 0, block = 0; at < transcript.segments.length; at += BLOCK, block++) {
    const segments = transcript.segments.slice(at, at + BLOCK);
    blocks.push({
      turnsSealed: await seal(
        `segments|${id}:${block}|turns`,
        segments.map((segment) => turn(segment, transcript.diarized)),
      ),
      wordsSealed: await seal(`segments|${id}:${block}|words`, segments.map(words)),
    });
  }
  const filename = await vault.text(workspaceId, `transcriptions|${id}|filename`, claim.filenameSealed);
  const said = transcript.segments.map(({ text }) => text);
  return {
    language: transcript.language,
    durationSeconds: transcript.durationSeconds,
    mediaType: transcript.mediaType,
    diarized: transcript.diarized,
    titleSealed: layer?.title ? await seal(`transcriptions|${id}|title`, layer.title) : null,
    summarySealed: layer && (await seal(`transcriptions|${id}|summary`, layer.summary)),
    summaryWriter: layer?.writer,
    topicsSealed: layer && (await seal(`transcriptions|${id}|topics`, layer.topics)),
    speakersSealed: speakers.length ? await seal(`transcriptions|${id}|speakers`, speakers) : null,
    blocks,
    confidence: confidenceOfAll(transcript.segments.flatMap((segment) => segment.words)),
    terms: await hashWords(vault, workspaceId, said, layer?.title || filename || ''),
  };
}

function turn({ id, start, end, speaker, text }: Segment, diarized: boolean) {
  return { id, start: milli(start), end: milli(end), speaker: diarized && speaker !== null ? speakerId(speaker) : null, text };
}

function words({ words }: Segment) {
  return words.map(({ start, end, text, probability }) => [milli(start), milli(end), text, milli(confidenceOf(probability))]);
}

function speakerId(index: number): string {
  return `speaker_${index + 1}`;
}

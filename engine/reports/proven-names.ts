import { introduces, type NameCandidate, settle, vocative } from './extractive/names.ts';
import { talkOf } from './extractive/talk.ts';
import type { Evidence } from './ground.ts';
import type { ReportTranscript, SpeakerName } from './report.ts';
import type { NamedSpeaker } from './shapes.ts';

const NEAR = 3; // segments within which the addressee must speak

/**
 * The speaker names proposed by a model that the transcript confirms: the quoted evidence occurs in that segment, contains the name, and is
 * the speaker's own introduction or addresses somebody who speaks next. No name if candidates contradict each other.
 */
export function provenNames(candidates: readonly NamedSpeaker[], transcript: ReportTranscript, evidence: Evidence): SpeakerName[] {
  const { language } = talkOf({ ...transcript, segments: transcript.segments.slice(0, 40) });
  const labels = [...new Set(transcript.segments.map((segment) => segment.speaker))];
  const proven = candidates.flatMap((candidate): NameCandidate[] => {
    const segment = evidence.segment(candidate.segment);
    const name = candidate.name.trim();
    if (segment === undefined || !labels.includes(candidate.speaker) || !isName(name)) return [];
    if (evidence.find(candidate.evidence, segment.id)?.id !== segment.id || !holds(candidate.evidence, name)) return [];
    const introduced = candidate.kind === 'introduction';
    if (introduced && (segment.speaker !== candidate.speaker || introduces(language, candidate.evidence, name) === false)) return [];
    if (
      !introduced &&
      (segment.speaker === candidate.speaker ||
        !near(transcript, segment.id, candidate.speaker) ||
        !vocative(language, candidate.evidence, name))
    )
      return [];
    return [{ speaker: candidate.speaker, name, evidence: candidate.evidence.trim(), segmentId: segment.id, introduced }];
  });
  return settle(proven, labels);
}

function isName(name: string): boolean {
  return (
    name.length >= 2 &&
    name.length <= 60 &&
    name.split(/\s+/).length <= 4 &&
    /^[\p{L}][\p{L}\p{M}.'’\- ]*$/u.test(name) &&
    !/^\p{Ll}/u.test(name)
  );
}

function holds(text: string, name: string): boolean {
  return text.toLowerCase().includes(name.toLowerCase());
}

function near(transcript: ReportTranscript, segmentId: number, speaker: string): boolean {
  const at = transcript.segments.findIndex((segment) => segment.id === segmentId);
  return transcript.segments.slice(Math.max(0, at - NEAR), at + NEAR + 1).some((segment) => segment.speaker === speaker);
}

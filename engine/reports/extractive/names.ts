import type { ReportSegment, SpeakerName } from '../report.ts';
import type { Language } from './cues/cue.ts';
import type { Talk } from './talk.ts';

const WORD = "\\p{Lu}[\\p{L}\\p{M}]*(?:['’-]\\p{Lu}?[\\p{L}\\p{M}]+)*";

/** A name found in the conversation and its speaker. `introduced`: said by the speakers themselves. */
export interface NameCandidate extends SpeakerName {
  introduced: boolean;
}

/**
 * Names given to speakers in the conversation: by introducing themselves, or by being greeted or thanked by name where the addressee is
 * certain. Nothing is inferred from a mere mention.
 */
export function namesOf(talk: Talk): SpeakerName[] {
  if (talk.language === null) return [];
  return settle(
    [...introductions(talk, talk.language), ...addresses(talk, talk.language)],
    talk.speakers.map((speaker) => speaker.label),
  );
}

/**
 * At most one name per speaker: introductions take precedence over forms of address. No name if candidates contradict each other or two
 * speakers share one.
 */
export function settle(candidates: readonly NameCandidate[], labels: readonly string[]): SpeakerName[] {
  const named: SpeakerName[] = [];
  for (const label of labels) {
    const own = candidates.filter((candidate) => candidate.speaker === label);
    const strong = own.some((candidate) => candidate.introduced) ? own.filter((candidate) => candidate.introduced) : own;
    const fullest = strong.reduce<NameCandidate | null>(
      (best, candidate) => (best === null || candidate.name.length > best.name.length ? candidate : best),
      null,
    );
    if (fullest === null || strong.some((candidate) => !samePerson(candidate.name, fullest.name))) continue;
    const { introduced: _, ...name } = fullest;
    named.push(name);
  }
  return named.filter((name) => !named.some((other) => other !== name && samePerson(other.name, name.name)));
}

/** Whether a speaker introduces themselves by this name with one of the language's phrases. Null if the language is unknown. */
export function introduces(language: Language | null, text: string, name: string): boolean | null {
  if (language === null) return null;
  return introducedIn(language, text).some((found) => samePerson(found, name));
}

/** Whether the name is used as a form of address: set off by punctuation, or after a greeting or thanks. */
export function vocative(language: Language | null, text: string, name: string): boolean {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const greetings = language === null ? '(?!)' : language.names.addresses;
  return new RegExp(`(?:^|[,.!?;¿¡]\\s*|(?:${greetings}),? )${escaped}\\s*(?:[,.!?;]|$)`, 'iu').test(text.trim());
}

/** Whether one name equals or is part of the other: `Anna` and `Anna Weber`. */
function samePerson(a: string, b: string): boolean {
  const [short, long] = [a, b].map((name) => name.toLowerCase().split(/\s+/)).sort((x, y) => x.length - y.length) as [string[], string[]];
  return short.every((word) => long.includes(word));
}

function introductions(talk: Talk, language: Language): NameCandidate[] {
  return talk.transcript.segments.flatMap((segment) =>
    introducedIn(language, segment.text).map((name) => ({
      speaker: segment.speaker,
      name,
      evidence: around(segment.text, name),
      segmentId: segment.id,
      introduced: true,
    })),
  );
}

function introducedIn(language: Language, text: string): string[] {
  return language.names.introductions.flatMap((phrase) => captured(language, text, beginning(phrase)));
}

function addresses(talk: Talk, language: Language): NameCandidate[] {
  const { segments } = talk.transcript;
  const patternSource = `(?:${language.names.addresses}),? NAME(?=[.,!?;]|$)`;
  return segments.flatMap((segment, at) => {
    const meant = addressee(talk, segments, at);
    if (meant === null) return [];
    return captured(language, segment.text, beginning(patternSource))
      .filter((name) => !samePerson(name, segment.speaker))
      .map((name) => ({ speaker: meant, name, evidence: around(segment.text, name), segmentId: segment.id, introduced: false }));
  });
}

/** The addressee: the other one of two speakers, or the one who spoke before and answers next. */
function addressee(talk: Talk, segments: readonly ReportSegment[], at: number): string | null {
  const speaker = segments[at]!.speaker;
  if (talk.speakers.length === 2) return talk.speakers.find((other) => other.label !== speaker)!.label;
  const before = segments.slice(0, at).findLast((segment) => segment.speaker !== speaker)?.speaker;
  const after = segments.slice(at + 1).find((segment) => segment.speaker !== speaker)?.speaker;
  return before !== undefined && before === after ? before : null;
}

/** Matches the whole phrase, with the first letter of each word in either case. */
function beginning(phrase: string): string {
  return `(?<![\\p{L}\\p{N}])(?:${phrase.replace(/(?<![\\{\p{L}\p{N}[])\p{Ll}/gu, (letter) => `[${letter}${letter.toUpperCase()}]`)})`;
}

function captured(language: Language, text: string, phrase: string): string[] {
  const name = `(?<name>(?:(?:${language.names.titles}) )?${WORD}(?: (?:de |da |von |van |di |del )?${WORD}){0,2})`;
  const never = new Set(language.names.never.split(' '));
  const title = new RegExp(`^(?:${language.names.titles})$`, 'u');
  const matches = text.replaceAll('’', "'").matchAll(new RegExp(phrase.replace('NAME', name).replace(/ /g, '\\s+'), 'gu'));
  const found = new Set([...matches].map((match) => match.groups!.name!.trim().replace(/\s+/g, ' ')));
  return [...found].filter((name) => {
    const words = name.split(' ');
    return !title.test(name) && (!never.has(words[0]!) || (words.length > 1 && title.test(words[0]!)));
  });
}

/** The sentence that contains the name. */
function around(text: string, name: string): string {
  return text.split(/(?<=[.!?])\s+/).find((sentence) => sentence.replace(/\s+/g, ' ').includes(name)) ?? text;
}

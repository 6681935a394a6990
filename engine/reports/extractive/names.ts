import type { ReportSegment, SpeakerName } from '../report.ts';
import type { Language } from './cues/cue.ts';
import type { Talk } from './talk.ts';

const WORD = "\\p{Lu}[\\p{L}\\p{M}]*(?:['’-]\\p{Lu}?[\\p{L}\\p{M}]+)*";

/** A name found in the talk, and for whom. `introduced`: said by the speaker about themselves. */
export interface NameCandidate extends SpeakerName {
  introduced: boolean;
}

/**
 * Names that speakers are given in the talk itself: by introducing themselves, or by being greeted or thanked by name when it is certain who is meant.
 * Nothing is inferred from a mention.
 */
export function namesOf(talk: Talk): SpeakerName[] {
  if (talk.language === null) return [];
  return settle(
    [...introductions(talk, talk.language), ...addresses(talk, talk.language)],
    talk.speakers.map((speaker) => speaker.label),
  );
}

/** One name a speaker at most: introductions before forms of address, nobody where the candidates contradict each other or two speakers share one name. */
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

/** Whether these words introduce their speaker by this name in one of the ways of their language. Null when the language is not known. */
export function introduces(language: Language | null, text: string, name: string): boolean | null {
  if (language === null) return null;
  return introducedIn(language, text).some((found) => samePerson(found, name));
}

/** Whether the name stands in these words as an address: set off by punctuation, or behind a greeting or thanks. */
export function vocative(language: Language | null, text: string, name: string): boolean {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const greetings = language === null ? '(?!)' : language.names.addresses;
  return new RegExp(`(?:^|[,.!?;¿¡]\\s*|(?:${greetings}),? )${escaped}\\s*(?:[,.!?;]|$)`, 'iu').test(text.trim());
}

/** One name is the other, or a part of it: `Anna` and `Anna Weber`. */
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

/** Who is spoken to: the other one of two speakers, or the one who spoke before and answers after. */
function addressee(talk: Talk, segments: readonly ReportSegment[], at: number): string | null {
  const speaker = segments[at]!.speaker;
  if (talk.speakers.length === 2) return talk.speakers.find((other) => other.label !== speaker)!.label;
  const before = segments.slice(0, at).findLast((segment) => segment.speaker !== speaker)?.speaker;
  const after = segments.slice(at + 1).find((segment) => segment.speaker !== speaker)?.speaker;
  return before !== undefined && before === after ? before : null;
}

/** The phrase, not inside a word, with a first letter of either case in each of its words. */
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

/** The sentence that holds the name. */
function around(text: string, name: string): string {
  return text.split(/(?<=[.!?])\s+/).find((sentence) => sentence.replace(/\s+/g, ' ').includes(name)) ?? text;
}

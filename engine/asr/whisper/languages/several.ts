import type { Span } from '../../../types.ts';
import { partOf, replaced } from '../../parts.ts';
import type { LanguageSpan, RecognisedWindow, WindowRequest } from '../../recogniser.ts';
import { languagesHeard, type Recogniser } from '../attempts.ts';
import { CLEAR_LANGUAGE_PROBABILITY } from '../thresholds.ts';
import { changes, type Part, type Run, runsOf, sharesOf } from './mixed.ts';

/** The words of a window or of a part of one. */
export type Heard = Omit<RecognisedWindow, 'uncovered' | 'language'> & { language: string };

/** A part of a window with its own words. */
interface HeardPart extends LanguageSpan, Pick<Heard, 'words' | 'tried'> {}

/**
 * The parts of a window in which the language changes, each decoded in its own. The language of a part is that of its sound alone, which an
 * encoder run tells. They replace the window's text together if one of them is in another language, clearly or with more probable text; else
 * there are none.
 * @param hear decodes a part of the window
 */
export async function inSeveralLanguages(
  request: WindowRequest,
  { language }: Heard,
  parts: readonly Part[],
  recogniser: Recogniser,
  hear: (part: WindowRequest) => Promise<Heard>,
  check: () => void,
): Promise<HeardPart[]> {
  const sounded = (some: readonly Part[]) =>
    Promise.all(some.map(async (part) => ({ ...part, languages: await languagesHeard(partOf(request, part.span), recogniser, check) })));
  const doubted = await sounded(parts.filter((part) => part.doubted));
  if (!changes(doubted, language)) return [];
  const others = await sounded(parts.filter((part) => !part.doubted));
  const all = [...doubted, ...others].sort((a, b) => a.span.start - b.span.start);
  const runs = runsOf(all, language).filter((run) => run.language !== language || run.improbable); // the window's text is as good
  const found = await Promise.all(runs.map((run) => hear({ ...partOf(request, run.span), expected: run.language })));
  const another = (own: Heard, { probability, meanLogProb }: Run) =>
    own.language !== language && (probability >= CLEAR_LANGUAGE_PROBABILITY || own.meanLogProb > meanLogProb);
  const heard = found.flatMap((own, i): (HeardPart & { another: boolean })[] =>
    own.words.length
      ? [{ words: own.words, tried: own.tried, language: own.language, span: runs[i]!.span, another: another(own, runs[i]!) }]
      : [],
  );
  return heard.some((part) => part.another) ? heard.filter((part) => part.another || part.language === language) : [];
}

/** A window with the words of parts in their own languages; its language is the one with the most speech. */
export function inParts(decoded: Heard, parts: readonly HeardPart[], speech: readonly Span[]): Heard {
  const languages = sharesOf(parts, decoded.language, speech);
  return {
    ...decoded,
    ...{ languages, language: languages[0]![0], mixed: true },
    parts: parts.map(({ language, span }) => ({ language, span })),
    words: parts.reduce((words, { span, words: own }) => replaced(words, span, own, 0), decoded.words),
    tried: [...decoded.tried, ...parts.flatMap(({ tried }) => ['part', ...tried])],
  };
}

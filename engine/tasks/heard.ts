import type { HeardStretch } from '../types.ts';
import type { Engine } from './engine.ts';

/** Logs which model recognised which stretch of a recording, and counts the seconds of speech by model and those of fallbacks. */
export function note({ log, counts }: Pick<Engine, 'log' | 'counts'>, transcription: string, stretches: readonly HeardStretch[]): void {
  for (const { model, seconds, fallback } of stretches) {
    countsOf(counts, model).seconds += seconds;
    if (fallback) countsOf(counts, fallback.model)[fallback.why] += seconds;
  }
  log.info({ transcription, stretches: merged(stretches) }, 'recognised by several models');
  const failure = stretches.find(({ fallback }) => fallback?.why === 'failed')?.fallback;
  if (failure) log.warn({ transcription, model: failure.model, reason: failure.message }, 'a model failed; another one was used');
}

/** Logs that no model recognises the language that a recording was said to be in. */
export function noteForeign({ log, pool }: Pick<Engine, 'log' | 'pool'>, transcription: string, language: string): void {
  if (language === 'auto' || !pool.languages || pool.languages.includes(language)) return;
  log.warn(
    { transcription, language, recognised: pool.languages },
    'no model recognises the requested language; the text is in another one',
  );
}

function countsOf({ recognised }: Engine['counts'], model: string) {
  return (recognised[model] ??= { seconds: 0, failed: 0, unsure: 0 });
}

interface Line {
  start: number;
  end: number;
  channel?: number;
  model: string;
  language: string | null;
  /** The model that was tried first, and why it was not used. */
  instead?: string;
}

/** Neighbouring stretches of the same model, language and fallback as one, rounded to 0.1 s. */
function merged(stretches: readonly HeardStretch[]): Line[] {
  const lines: Line[] = [];
  const round = (seconds: number) => Math.round(seconds * 10) / 10;
  for (const { start, end, channel, model, language, fallback } of stretches) {
    const instead = fallback && `${fallback.model}: ${fallback.why}`;
    const before = lines.at(-1);
    if (before && before.model === model && before.language === language && before.instead === instead && before.channel === channel)
      before.end = round(end);
    else
      lines.push({
        start: round(start),
        end: round(end),
        model,
        language,
        ...(channel !== undefined && { channel }),
        ...(instead && { instead }),
      });
  }
  return lines;
}

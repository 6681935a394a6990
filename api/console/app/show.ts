import { LANGUAGES } from '../../contract/languages.ts';
import { clock as minutesAndSeconds } from '../../contract/text.ts';

/* Values as people read them. */

/** As in the text of a transcript. */
export function clock(seconds: number | null): string {
  return seconds === null ? '' : minutesAndSeconds(seconds);
}

export function length(seconds: number | null): string {
  if (seconds === null) return '–';
  const whole = Math.round(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  if (h) return m ? `${h} h ${m} min` : `${h} h`;
  return m ? (m < 10 && s ? `${m} min ${s} s` : `${m} min`) : `${s} s`;
}

/** Day and time in full. */
export function day(stamp: string): string {
  return new Date(stamp).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** As short as it is clear: the time today, else the day. */
export function when(stamp: string, now = new Date()): string {
  const date = new Date(stamp);
  if (date.toDateString() === now.toDateString()) return date.toLocaleTimeString(undefined, { timeStyle: 'short' });
  const sameYear = date.getFullYear() === now.getFullYear();
  return date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', ...(sameYear ? {} : { year: 'numeric' }) });
}

const names = new Intl.DisplayNames(undefined, { type: 'language' });

export function language(code: string | null): string {
  if (!code) return '–';
  try {
    return names.of(code === 'jw' ? 'jv' : code) ?? code;
  } catch {
    return code;
  }
}

/** Every language with its name, by name. */
export const LANGUAGE_CHOICES = LANGUAGES.map((code) => [code, language(code)] as const).sort((a, b) => a[1].localeCompare(b[1]));

export const STATUS: Record<string, string> = {
  completed: 'Ready',
  processing: 'In progress',
  queued: 'Waiting',
  failed: 'Failed',
  insufficient_balance: 'Not enough minutes',
};

export const STAGE: Record<string, string> = {
  waiting: 'Waiting for a free slot',
  probing: 'Checking file',
  transcribing: 'Transcribing',
  diarizing: 'Identifying speakers',
  finishing: 'Finishing',
};

export const FAILURE: Record<string, string> = {
  FILE_CORRUPTED: 'This file could not be read as audio or video.',
  FILE_NO_AUDIO: 'There is no sound in this file.',
  RECORDING_TOO_LONG: 'The recording is longer than is accepted here.',
  RECORDING_TOO_SHORT: 'The recording is shorter than one second.',
  UPLOAD_INCOMPLETE: 'The upload broke off. Upload the file again.',
  UNSUPPORTED_CODEC: 'The sound in this file is in a format that cannot be read.',
  PROCESSING_TIMEOUT: 'Reading this file took too long.',
  ENGINE_ERROR: 'The engine failed on this file several times.',
};

/** Why there is no report. */
export const NO_REPORT: Record<string, string> = {
  TRANSCRIPTION_FAILED: 'The recording could not be transcribed.',
  TRANSCRIPT_EMPTY: 'Nobody speaks in this recording.',
  TRANSCRIPT_TOO_LONG: 'The transcript is too long for the language model.',
  TEMPLATE_UNAVAILABLE: 'The template is no longer there.',
  LLM_UNAVAILABLE: 'The language model does not answer. Try again later.',
  LLM_TIMEOUT: 'The language model took too long. Try again later.',
  LLM_REFUSED: 'The language model refused to write it.',
  LLM_INVALID_OUTPUT: 'The language model answered with something that is no report.',
  INTERNAL_ERROR: 'Something failed. Try again.',
};

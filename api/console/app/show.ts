import { LANGUAGES } from '../../contract/languages.ts';
import { clock as minutesAndSeconds } from '../../contract/text.ts';

/* Formats values for display. */

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

/** An estimate; empty if there is none. */
export function left(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return '';
  return seconds < 60 ? 'less than a minute left' : `about ${length(60 * Math.ceil(seconds / 60))} left`;
}

const MEGABYTE = 1_048_576;

export function size(bytes: number): string {
  const megabytes = bytes / MEGABYTE;
  if (megabytes < 1) return `${Math.ceil(bytes / 1024)} KB`;
  if (megabytes < 1024) return `${megabytes < 10 ? megabytes.toFixed(1) : Math.round(megabytes)} MB`;
  return `${Number((megabytes / 1024).toFixed(1))} GB`;
}

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }); // slow to make: once

/** Full date and time. */
export function day(stamp: string): string {
  return full.format(new Date(stamp));
}

const utc = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** A calendar day of the API, which counts them in UTC: YYYY-MM-DD, shown without its year. */
export function utcDay(date: string): string {
  return utc.format(new Date(`${date}T00:00Z`));
}

/** The last moment of a calendar day, YYYY-MM-DD, where this person is. */
export function endOfDay(date: string): Date {
  const [year, month, of] = date.split('-').map(Number);
  return new Date(new Date(year!, month! - 1, of! + 1).getTime() - 1);
}

/** As short as possible: the time if today, else the date. */
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

/** Every language with its name, sorted by name. */
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
  FILE_NO_AUDIO: 'There is no audio in this file.',
  RECORDING_TOO_LONG: 'The recording exceeds the maximum length.',
  RECORDING_TOO_SHORT: 'The recording is shorter than one second.',
  UPLOAD_INCOMPLETE: 'The upload was interrupted. Upload the file again.',
  UNSUPPORTED_CODEC: 'The audio in this file is in an unsupported format.',
  PROCESSING_TIMEOUT: 'Reading this file took too long.',
  ENGINE_ERROR: 'Processing this file failed several times.',
};

/** Messages for failed reports. */
export const NO_REPORT: Record<string, string> = {
  TRANSCRIPTION_FAILED: 'The recording could not be transcribed.',
  TRANSCRIPT_EMPTY: 'No speech was detected in this recording.',
  TRANSCRIPT_TOO_LONG: 'The transcript is too long for the language model.',
  TEMPLATE_UNAVAILABLE: 'The template no longer exists.',
  LLM_UNAVAILABLE: 'The language model is not responding. Try again later.',
  LLM_TIMEOUT: 'The language model took too long. Try again later.',
  LLM_REFUSED: 'The language model refused to write this report.',
  LLM_INVALID_OUTPUT: "The language model's answer could not be used as a report.",
  INTERNAL_ERROR: 'Something went wrong. Try again.',
};

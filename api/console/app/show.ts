/** Values as people read them. */

export function clock(seconds: number | null): string {
  if (seconds === null) return '';
  const whole = Math.floor(seconds);
  return `${String(Math.floor(whole / 60)).padStart(2, '0')}:${String(whole % 60).padStart(2, '0')}`;
}

export function length(seconds: number | null): string {
  if (seconds === null) return '–';
  const whole = Math.round(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return h ? `${h} h ${m} min` : m ? `${m} min ${s} s` : `${s} s`;
}

export function day(stamp: string): string {
  return new Date(stamp).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
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

export const STATUS: Record<string, string> = {
  queued: 'Waiting',
  processing: 'In progress',
  completed: 'Ready',
  failed: 'Failed',
  insufficient_balance: 'Not enough minutes',
};

export const STAGE: Record<string, string> = {
  waiting: 'waiting for a free slot',
  probing: 'looking at the file',
  transcribing: 'writing down what is said',
  diarizing: 'telling the speakers apart',
  finishing: 'putting it together',
};

export const FAILURE: Record<string, string> = {
  FILE_CORRUPTED: 'This file could not be read as audio or video.',
  FILE_NO_AUDIO: 'There is no sound in this file.',
  RECORDING_TOO_LONG: 'The recording is longer than 10 hours.',
  RECORDING_TOO_SHORT: 'The recording is shorter than one second.',
  UPLOAD_INCOMPLETE: 'The upload broke off. Upload the file again.',
  UNSUPPORTED_CODEC: 'The sound in this file is in a format that cannot be read.',
  PROCESSING_TIMEOUT: 'Reading this file took too long.',
  ENGINE_ERROR: 'The engine failed on this file several times.',
};

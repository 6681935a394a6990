import { InvalidArgumentError } from 'commander';

/* Parsers for numeric options. */

export function number(text: string): number {
  if (text.trim() === '' || !Number.isFinite(Number(text))) throw new InvalidArgumentError('It must be a number.');
  return Number(text);
}

/** A whole number from 1. */
export function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

/** A port as text, for the settings. */
export function port(text: string): string {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('It must be a whole number from 0 to 65535; 0 picks a free port.');
  return text;
}

/** A load, such as 200h/day. */
export function hoursPerDay(text: string): number {
  const hours = Number(/^(\d+(?:\.\d+)?)\s*h\/day$/.exec(text.trim())?.[1]);
  if (!(hours > 0)) throw new InvalidArgumentError('It must be hours of audio per day, such as 200h/day.');
  return hours;
}

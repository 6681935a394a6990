import { InvalidArgumentError } from 'commander';

/* Parsers for options. */

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

/** The URL of a service. */
export function address(text: string): string {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) throw new InvalidArgumentError('It must be a URL such as http://127.0.0.1:8080.');
  return text;
}

/** An e-mail address. */
export function email(text: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(text)) throw new InvalidArgumentError('It must be an address such as anna@example.com.');
  return text;
}

/** A load, such as 200h/day. */
export function hoursPerDay(text: string): number {
  const hours = Number(/^(\d+(?:\.\d+)?)\s*h\/day$/.exec(text.trim())?.[1]);
  if (!(hours > 0)) throw new InvalidArgumentError('It must be hours of audio per day, such as 200h/day.');
  return hours;
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Fields of a model card: the YAML front matter in the README.md of a published model. */
export interface Card {
  /** SPDX expression; undefined: not specified. */
  licence?: string;
  /** ISO codes. */
  languages: string[];
  /** The base model. */
  base?: string;
}

const LONGEST = 2 ** 16; // characters of the front matter

/** Reads the card in a folder; empty if there is none. */
export function readCard(folder: string): Card {
  const head = /^---\r?\n([\s\S]*?)\r?\n---/.exec(textIn(folder).slice(0, LONGEST))?.[1] ?? '';
  const licence = valuesOf(head, 'license')[0];
  return {
    licence: licence ? spdx(licence) : undefined,
    languages: valuesOf(head, 'language').filter((code) => /^[a-z]{2,3}$/.test(code)),
    base: valuesOf(head, 'base_model')[0],
  };
}

function textIn(folder: string): string {
  try {
    return readFileSync(join(folder, 'README.md'), 'utf8');
  } catch {
    return '';
  }
}

/** The value of a key, or the values of its list, in the simple YAML of model cards. */
function valuesOf(head: string, key: string): string[] {
  const lines = head.split(/\r?\n/);
  const at = lines.findIndex((line) => line.startsWith(`${key}:`));
  if (at < 0) return [];
  const own = lines[at]!.slice(key.length + 1).trim();
  if (own)
    return own
      .replace(/^\[|\]$/g, '')
      .split(',')
      .map(bare)
      .filter(Boolean);
  const rest = lines.slice(at + 1);
  const end = rest.findIndex((line) => !/^\s*-\s/.test(line));
  return rest.slice(0, end < 0 ? undefined : end).map((line) => bare(line.replace(/^\s*-\s/, '')));
}

function bare(value: string): string {
  return value.trim().replace(/^(['"])(.*)\1$/, '$2');
}

/** Hugging Face writes identifiers in lower case. */
function spdx(licence: string): string {
  if (licence === 'apache-2.0') return 'Apache-2.0';
  return /^(mit|cc-?(by|0)[\w.-]*)$/i.test(licence) ? licence.toUpperCase() : licence;
}

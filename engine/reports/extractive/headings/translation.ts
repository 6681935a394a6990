import type { en } from './en.ts';

export type Heading = keyof typeof en;

/** `unknownLanguage` is only used in English. */
export type Translation = Record<Exclude<Heading, 'unknownLanguage'>, string>;

import { Migration001 } from './001_initial.ts';

/** In order; a number is never used twice and a landed migration never changes. */
export const MIGRATIONS = [{ name: '001_initial', class: Migration001 }];

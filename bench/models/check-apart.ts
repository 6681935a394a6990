import type { Measured } from '../../models/checks/self-check.ts';
import { apart } from '../apart.ts';
import type { CheckOptions } from './check.ts';

/** The self-check (`checkModel`) in a process of its own, which `signal` ends. */
export function checkModelApart(folder: string, options: CheckOptions, signal?: AbortSignal): Promise<Measured> {
  return apart(new URL('check-main.ts', import.meta.url), [folder, options], `The self-check of ${folder}`, signal);
}

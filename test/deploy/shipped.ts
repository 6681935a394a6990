/* The files of scripts/deploy, and the settings that they may name. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SETTING_NAMES } from '../../api/contract/settings.ts';
import { ROOT } from '../support/processes/processes.ts';

export const DEPLOY = path.join(ROOT, 'scripts', 'deploy');
export const COMMANDS = ['up', 'api', 'engine', 'courier', 'migrate'];
const OTHERS = ['POSTGRES_PASSWORD', 'POSTGRES_USER', 'POSTGRES_DB'];

export const read = (name: string) => readFileSync(path.join(DEPLOY, name), 'utf8');
export const known = (name: string) => SETTING_NAMES.includes(name) || OTHERS.includes(name) || /^AWS_/.test(name);

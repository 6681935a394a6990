import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { readSettings, type Settings } from '../../api/contract/settings.ts';

/** The checkout, or the installed package. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const installed = ROOT.split(path.sep).includes('node_modules');

/** The `.env` file: in the current folder, else in the checkout. A folder of that name is ignored. */
export const ENV_FILE =
  [path.resolve('.env'), path.join(ROOT, '.env')].find((file) => existsSync(file) && !statSync(file).isDirectory()) ?? null;

/** Variables set in the environment, before `.env` was read. */
export const FROM_ENVIRONMENT: ReadonlySet<string> = new Set(Object.keys(process.env));

/**
 * The settings of this process: environment, then `.env`, then defaults; `given` (from options) overrides them. LONGHAND_HOME is returned
 * as an absolute path: relative to the current folder if set, the default relative to the checkout, so that every command finds the same
 * state.
 */
export function loadSettings(given: Record<string, string | undefined> = {}): Settings {
  if (ENV_FILE) readEnvironment(ENV_FILE);
  for (const [name, value] of Object.entries(given)) if (value !== undefined) process.env[name] = value;
  const settings = readSettings(process.env);
  const base = process.env.LONGHAND_HOME || installed ? process.cwd() : ROOT;
  const home = path.resolve(base, settings.LONGHAND_HOME);
  process.env.LONGHAND_HOME = home;
  return { ...settings, LONGHAND_HOME: home };
}

/** As process.loadEnvFile, which does not skip the byte-order mark of files from Windows. */
function readEnvironment(file: string): void {
  const given = parseEnv(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  for (const [name, value] of Object.entries(given)) process.env[name] ??= value;
}

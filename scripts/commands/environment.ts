import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSettings, type Settings } from '../../api/contract/settings.ts';

/** The checkout, or the installed package. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const installed = ROOT.split(path.sep).includes('node_modules');

/** The `.env` file that is read: of the current folder, else of the checkout. */
export const ENV_FILE = [path.resolve('.env'), path.join(ROOT, '.env')].find((file) => existsSync(file)) ?? null;

/** Names that the environment gave, before `.env` was read. */
export const FROM_ENVIRONMENT: ReadonlySet<string> = new Set(Object.keys(process.env));

/**
 * The settings of this process: environment, then `.env`, then defaults; `given` (of options) wins. LONGHAND_HOME comes back absolute: one that
 * is given belongs to the current folder, the default to the checkout, so that every command finds the same state.
 */
export function loadSettings(given: Record<string, string | undefined> = {}): Settings {
  if (ENV_FILE) process.loadEnvFile(ENV_FILE);
  for (const [name, value] of Object.entries(given)) if (value !== undefined) process.env[name] = value;
  const settings = readSettings(process.env);
  const base = process.env.LONGHAND_HOME || installed ? process.cwd() : ROOT;
  const home = path.resolve(base, settings.LONGHAND_HOME);
  process.env.LONGHAND_HOME = home;
  return { ...settings, LONGHAND_HOME: home };
}

/** Finds programs on this system and installs packages of the distribution. Plain Node. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

export const say = (text) => process.stderr.write(`${text}\n`);

/** Path of a program, or null. */
export function findOnPath(program, more = []) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), ...more].filter(Boolean);
  return folders.map((folder) => path.join(folder, program)).find(executable) ?? null;
}

function executable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Installs packages with apt-get, as root on Debian or Ubuntu. False if that is not possible. */
export function installFromDistribution(packages) {
  if (process.getuid?.() !== 0 || !findOnPath('apt-get')) return false;
  say(`Installing ${packages.join(', ')} with apt-get …`);
  const wait = ['-o', 'DPkg::Lock::Timeout=300']; // a new machine often installs its updates first
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, stdio: ['ignore', 2, 2] };
  spawnSync('apt-get', ['update', '-qq', ...wait], options);
  return spawnSync('apt-get', ['install', '-y', '-qq', ...wait, '--no-install-recommends', ...packages], options).status === 0;
}

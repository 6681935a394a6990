/**
 * Prints a bill of materials (CycloneDX) of the runtime packages: `npm run -s sbom`. `npm sbom` makes it from a manifest without the others: its
 * --omit=dev leaves out what development uses as well, and it prints nothing because of the stubs in scripts/stubs, whose paths it takes as
 * relative to the dependent package. Plain Node.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const read = (name) => JSON.parse(readFileSync(path.join(ROOT, name), 'utf8'));

const manifest = read('package.json');
const lock = read('package-lock.json');
const stubs = Object.keys(manifest.overrides).filter((name) => manifest.overrides[name].startsWith('file:'));
for (const name of stubs) {
  delete manifest.overrides[name];
  const { resolved } = lock.packages[`node_modules/${name}`];
  delete lock.packages[`node_modules/${name}`];
  delete lock.packages[resolved];
  for (const { dependencies = {}, optionalDependencies = {} } of Object.values(lock.packages)) {
    delete dependencies[name];
    delete optionalDependencies[name];
  }
}

delete manifest.devDependencies;
delete lock.packages[''].devDependencies;

const scratch = mkdtempSync(path.join(tmpdir(), 'longhand-sbom-'));
try {
  const folder = path.join(scratch, manifest.name); // npm takes the name from it
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify(lock));
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const args = [...npm.slice(1), 'sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--loglevel=error'];
  const { status } = spawnSync(npm[0], args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  process.exitCode = status ?? 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

import { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { LIBRARIES, PROVIDERS, RUNTIME_FOLDER } from '../../engine/runtime/gpu.ts';

/** The folder of the GPU libraries. onnxruntime finds its providers by links beside its own library. */

/** Creates the links by which onnxruntime finds the providers in LIBRARIES. */
export function link(): void {
  for (const name of PROVIDERS) {
    const to = path.join(RUNTIME_FOLDER, name);
    rmSync(to, { force: true });
    symlinkSync(path.join(LIBRARIES, name), to);
  }
}

/** Undoes an installation. Returns whether there was one. */
export function remove(): boolean {
  const there = existsSync(LIBRARIES);
  for (const name of PROVIDERS) {
    const to = path.join(RUNTIME_FOLDER, name);
    if (lstatSync(to, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(to); // onnxruntime's own installer creates regular files
  }
  rmSync(path.dirname(LIBRARIES), { recursive: true, force: true });
  return there;
}

/** Empties LIBRARIES for a new installation. */
export function prepare(): string {
  rmSync(LIBRARIES, { recursive: true, force: true });
  mkdirSync(LIBRARIES, { recursive: true });
  return LIBRARIES;
}

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { hasByteDotProduct } from '../models/choosing/cpu.ts';

const ROOT = new URL('../', import.meta.url);

/** Provenance of a result, without which it cannot be reproduced. */
export interface Provenance {
  machine: string;
  /** Commit of the sources, with `+` if they were changed since; null outside a checkout. */
  commit: string | null;
  versions: { longhand: string; node: string; onnxruntime: string };
}

export function provenance(): Provenance {
  return {
    machine: machine(),
    commit: commit(),
    versions: {
      longhand: versionIn('package.json'),
      node: process.versions.node,
      onnxruntime: versionIn('node_modules/onnxruntime-node/package.json'),
    },
  };
}

/** Processor, cores, memory, and whether there are instructions for 8-bit dot products, which affect both speed and accuracy. */
function machine(): string {
  const products = hasByteDotProduct() ? '' : 'no 8-bit dot products, ';
  return `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${products}${availableParallelism()} cores, ${Math.round(totalmem() / 1024 ** 3)} GiB`;
}

function commit(): string | null {
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: fileURLToPath(ROOT), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return git('rev-parse', '--short=8', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') ? '+' : '');
  } catch {
    return null; // no git, or no checkout
  }
}

function versionIn(file: string): string {
  return (JSON.parse(readFileSync(new URL(file, ROOT), 'utf8')) as { version: string }).version;
}

import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { CpuVariant } from '../build/graph/graph.ts';

/**
 * Whether this CPU multiplies 8-bit numbers without saturating: VNNI on x86, dot product on ARM (always on Apple's).
 * @param cpuinfo text of /proc/cpuinfo; empty if there is none.
 */
export function hasByteDotProduct(arch: string = process.arch, cpuinfo: string = readCpuinfo()): boolean {
  if (arch === 'arm64') return cpuinfo === '' || /\basimddp\b/.test(cpuinfo);
  return /\b(avx512_vnni|avx_vnni)\b/.test(cpuinfo);
}

/** The variant that is fast and correct on this CPU. */
export function variantForCpu(dotProduct: boolean = hasByteDotProduct()): CpuVariant {
  return dotProduct ? 'int8' : 'int8-7bit';
}

/** The name of the processor. */
export function processor(): string {
  return cpus()[0]?.model.trim() || 'unknown processor';
}

function readCpuinfo(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    return ''; // not Linux
  }
}

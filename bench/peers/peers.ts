import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const HERE = fileURLToPath(new URL('./', import.meta.url));

/** Programs for comparison on the same audio. */
export const PEERS = ['faster-whisper', 'whisper.cpp'] as const;

export interface PeerResult {
  version: string | null;
  seconds: number;
  audio: number;
  text: string;
  peak_rss_mb: number;
}

export interface Peer {
  name: string;
  /** Transcribes one 16 kHz wav file; loading the model is not included. */
  run(file: string, language: string): Promise<PeerResult>;
}

/** Where `bench/peers/install.sh` installs the peers. */
function peerFolder(): string {
  return process.env.BENCH_PEERS ?? fileURLToPath(new URL('../../.longhand/peers', import.meta.url));
}

/** The peer in its fastest settings and in its most accurate one. Throws with the remedy if it is not installed. */
export function openPeer(name: (typeof PEERS)[number], threads: number): Peer[] {
  const folder = peerFolder();
  const python = `${folder}/bin/python`;
  const setting = (label: string, script: string, model: string, mode: string, ...more: string[]): Peer => ({
    name: `${name} ${label}`,
    async run(file, language) {
      const { stdout } = await run(
        python,
        [HERE + script, model, file, '--mode', mode, '--threads', String(threads), '--language', language, ...more],
        {
          maxBuffer: 1 << 28,
          env: { ...process.env, OMP_NUM_THREADS: String(threads) },
        },
      );
      return JSON.parse(stdout.trim().split('\n').at(-1)!) as PeerResult;
    },
  });
  const wanted = name === 'faster-whisper' ? `${folder}/base-ct2/model.bin` : `${folder}/ggml-base-q8_0.bin`;
  if (!existsSync(wanted)) {
    throw new Error(`Cannot compare with ${name}: ${wanted} is missing. Run: bench/peers/install.sh [CHECKPOINT_FOLDER]`);
  }
  return name === 'faster-whisper'
    ? [
        ...['8', '16'].map((batch) =>
          setting(`int8 batched ${batch}, greedy`, 'faster_whisper_run.py', `${folder}/base-ct2`, 'batched', '--batch', batch),
        ),
        setting('int8 one by one, beam 5', 'faster_whisper_run.py', `${folder}/base-ct2`, 'careful'),
      ]
    : [
        setting('q8_0 greedy', 'whisper_cpp_run.py', `${folder}/ggml-base-q8_0.bin`, 'greedy'),
        setting('f16 greedy', 'whisper_cpp_run.py', `${folder}/ggml-base.bin`, 'greedy'),
        setting('f16 beam 5', 'whisper_cpp_run.py', `${folder}/ggml-base.bin`, 'careful'),
      ];
}

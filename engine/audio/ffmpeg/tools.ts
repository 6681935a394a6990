import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** The media programs on this machine. */
export interface Tools {
  ffmpeg: string;
  /** As printed by ffmpeg: '5.1.9-0+deb12u1'. */
  version: string;
  /** Whether it decodes Speex with libspeex: ffmpeg's own decoder turns 4 s into 8 s (7.1). */
  libspeex: boolean;
  /** Names of its audio decoders, for the option -codec_whitelist. */
  decoders: string;
}

const OLDEST = 4.4; // older versions lack the bitstream filter setts, demuxers, and fixes for hostile files
const PATIENCE_MS = 60_000; // takes 0.1 s, and far longer on an overloaded machine
let found: Promise<Tools> | undefined;

/**
 * Locates ffmpeg: FFMPEG_PATH, then PATH, then ffmpeg-static; once per process. Throws an error with the remedy if there is none or it is
 * too old.
 */
export function findTools(): Promise<Tools> {
  found ??= lookUp(process.env).catch((error) => {
    found = undefined;
    throw error;
  });
  return found;
}

/** The look-up for a given environment. */
export async function lookUp(env: Record<string, string | undefined>): Promise<Tools> {
  const ffmpeg = await firstRunnable(candidates(env));
  if (!ffmpeg) {
    throw new Error(
      `Cannot decode media: ffmpeg was not found${env.FFMPEG_PATH ? ` at FFMPEG_PATH=${env.FFMPEG_PATH}` : ' on the PATH'}. ` +
        'Install it (Debian, Ubuntu: apt-get install ffmpeg) or set FFMPEG_PATH to its binary',
    );
  }
  return { ffmpeg, ...(await aboutItself(ffmpeg)) };
}

function candidates(env: Record<string, string | undefined>): string[] {
  if (env.FFMPEG_PATH) return [env.FFMPEG_PATH];
  const onPath = (env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, 'ffmpeg'));
  return [...onPath, ...bundled()];
}

function bundled(): string[] {
  try {
    return [createRequire(import.meta.url)('ffmpeg-static') as string].filter(Boolean);
  } catch {
    return []; // optional package
  }
}

async function firstRunnable(paths: string[]): Promise<string | null> {
  for (const path of paths) {
    const runnable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runnable) return path;
  }
  return null;
}

/** One call, because starting ffmpeg takes longer than its answer. The banner on standard error has the version. */
async function aboutItself(ffmpeg: string): Promise<Omit<Tools, 'ffmpeg'>> {
  const asked = promisify(execFile)(ffmpeg, ['-decoders'], { env: {}, timeout: PATIENCE_MS });
  const { stdout, stderr } = await asked.catch((error: Error & { killed?: boolean }) => {
    const why = error.killed ? `no output within ${PATIENCE_MS / 1000} s` : error.message;
    throw new Error(`Cannot decode media: ${ffmpeg} cannot be run (${why}). Install ffmpeg ${OLDEST} or newer`);
  });
  const banner = `${stderr}\n${stdout}`;
  const version = /^ffmpeg version (\S+)/m.exec(banner)?.[1] ?? 'unknown';
  const release = Number(/^n?(\d+\.\d+)/.exec(version)?.[1] ?? Number.NaN);
  if (release < OLDEST)
    throw new Error(`Cannot decode media: ${ffmpeg} is version ${version}, ${OLDEST} or newer is required. Install a newer ffmpeg`);
  const decoders = stdout.match(/(?<=^ A[A-Z.]{5} )[^\s=]+/gm) ?? [];
  return { version, libspeex: banner.includes('--enable-libspeex'), decoders: decoders.join(',') };
}

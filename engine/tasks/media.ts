import { rm } from 'node:fs/promises';
import type { ClaimedTranscription } from '../../db/jobs/claim.ts';
import { type Media, mediaRemoved } from '../../db/jobs/complete.ts';
import type { Probe } from '../audio/decode.ts';
import type { Engine } from './engine.ts';
import { insist } from './insist.ts';

/** A decrypted copy of a recording. */
export interface Plain {
  path: string;
  /** Result of a recent probe by this engine. */
  probed?: Pick<Probe, 'mediaType' | 'tracks'>;
  /** Removes the copy. */
  close(): Promise<void>;
}

/** The spool is unavailable: no recording can be read, so this one is not at fault. */
class SpoolAway extends Error {
  code = 'EIO';
  constructor(cause: unknown) {
    super('Cannot read the recording: the spool is unavailable', { cause });
  }
}

const kept = new WeakMap<Engine, Map<string, { plain: Plain; timer: NodeJS.Timeout }>>();
const KEPT_MS = 20_000; // from probe to transcription
const KEPT_FILES = 4;

/** Decrypts the media of a claim into the engine's scratch folder, or takes the copy that was kept. The caller closes it. */
export async function openMedia(engine: Engine, claim: ClaimedTranscription, signal: AbortSignal): Promise<Plain> {
  const copies = kept.get(engine);
  const copy = copies?.get(claim.lease.id);
  if (copy) {
    clearTimeout(copy.timer);
    copies!.delete(claim.lease.id);
    return copy.plain;
  }
  const { id, workspaceId } = claim.lease;
  const key = await engine.vault.open(workspaceId, `transcriptions|${id}|media_key`, claim.mediaKeySealed);
  const path = await engine.scratch.place(claim.mediaBytes);
  try {
    await engine.spool.open(id, claim.extension, key, path, signal);
    await engine.scratch.share(path);
  } catch (error) {
    await rm(path, { force: true });
    if (!signal.aborted && !(await engine.trouble.look())) throw new SpoolAway(error);
    throw error;
  }
  return { path, close: () => rm(path, { force: true }) };
}

/** Keeps a copy for a while instead of closing it: this engine will probably transcribe what it has just probed. */
export async function keepMedia(engine: Engine, id: string, plain: Plain): Promise<void> {
  const copies = kept.get(engine) ?? new Map();
  kept.set(engine, copies);
  if (copies.size >= KEPT_FILES) return plain.close();
  const drop = () => {
    copies.delete(id);
    plain.close().catch((error) => engine.log.warn({ error }, 'a scratch file could not be removed'));
  };
  copies.set(id, { plain, timer: setTimeout(drop, KEPT_MS).unref() });
}

/** Removes the encrypted media of a finished transcription. */
export async function dropMedia(engine: Engine, media: Media): Promise<void> {
  await engine.spool.remove(media.id, media.extension);
  await insist(() => engine.db.workspace(media.workspaceId, (tx) => mediaRemoved(tx, media)));
}

/** The same. False: it failed, and the sweeper will retry. */
export async function removeMedia(engine: Engine, media: Media): Promise<boolean> {
  try {
    await dropMedia(engine, media);
    return true;
  } catch (error) {
    engine.log.warn({ error, transcription: media.id }, 'the media could not be removed; the sweeper will retry');
    return false;
  }
}

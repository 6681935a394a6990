import { randomUUID } from 'node:crypto';
import { type ClaimedTranscription, claimNext, claimProbe, probed } from '../../../db/jobs/claim.ts';
import { complete, type Finished, type Settled } from '../../../db/jobs/complete.ts';
import type { Db } from '../../../db/postgres/orm.ts';
import type { Vault } from '../../../db/secrets/vault.ts';
import { SPEAKERS, TURNS } from '../databases/world.ts';
import { finished } from './work.ts';

/** Performs the steps of an engine individually, without an engine. */
export interface ByHand {
  engineId: string;
  /** Probes the file that is waiting for it. */
  probe(durationSeconds?: number): Promise<void>;
  /** Claims the file that is waiting for a worker slot. */
  take(): Promise<ClaimedTranscription>;
  /** TURNS as the transcript of a file. */
  result(workspaceId: string, id: string, seconds: number): Promise<Finished>;
  /** All steps for the one waiting file. */
  transcribe(workspaceId: string, id: string, seconds?: number): Promise<Settled>;
}

export function openByHand({ db, vault }: { db: Db; vault: Vault }): ByHand {
  const engineId = randomUUID();
  const hand: ByHand = {
    engineId,
    async probe(durationSeconds = 60) {
      const claim = (await claimProbe(db, engineId))!;
      await probed(db, claim.lease, { durationSeconds, mediaType: 'audio' });
    },
    take: async () => (await claimNext(db, { engineId, shortOnly: false })) as ClaimedTranscription,
    async result(workspaceId, id, seconds) {
      const seal = (place: string, value: unknown) => vault.seal(workspaceId, place, JSON.stringify(value));
      const turns = TURNS.map(({ words: _, ...turn }, index) => ({ id: index + 1, ...turn }));
      const words = TURNS.map((turn) => turn.words);
      return {
        ...finished(seconds),
        diarized: true,
        speakersSealed: await seal(`transcriptions|${id}|speakers`, SPEAKERS),
        blocks: [{ turnsSealed: await seal(`segments|${id}:0|turns`, turns), wordsSealed: await seal(`segments|${id}:0|words`, words) }],
      };
    },
    async transcribe(workspaceId, id, seconds = 60) {
      await hand.probe(seconds);
      const { lease } = await hand.take();
      return complete(db, lease, await hand.result(workspaceId, id, seconds));
    },
  };
  return hand;
}

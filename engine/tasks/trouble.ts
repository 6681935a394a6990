import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../db/ops/log.ts';

const LIMIT_MS = 10_000; // for an answer of the spool: a share whose server is gone gives none
const PAUSE_MS = 1000; // between two looks

/** What keeps this host from every recording: its spool cannot be read. Then it takes none; other hosts do, or they wait. */
export interface Trouble {
  /** Null when all is well. */
  readonly reason: string | null;
  /** Looks, and says whether recordings can be read. */
  look(): Promise<boolean>;
  /** The same, but looks only while there is trouble. */
  over(): Promise<boolean>;
}

/** `reach` throws when the spool cannot be read. */
export function openTrouble(reach: () => Promise<void>, log: Log): Trouble {
  let reason: string | null = null;
  let looking: Promise<boolean> | null = null;
  let reaching: Promise<void> | null = null; // may hang for ever: never twice at once
  let looked = Number.NEGATIVE_INFINITY;

  async function find(): Promise<boolean> {
    try {
      reaching ??= reach().finally(() => {
        reaching = null;
      });
      await Promise.race([reaching, late()]);
      if (reason) log.warn({}, 'the spool can be read again: recordings are taken');
      reason = null;
    } catch (error) {
      if (!reason) log.error({ error }, 'the spool cannot be read: no recording is taken until it can');
      reason = (error as Error).message;
    }
    looked = performance.now();
    return !reason;
  }

  const look = () => {
    looking ??= find().finally(() => {
      looking = null;
    });
    return looking;
  };
  return {
    get reason() {
      return reason;
    },
    look,
    over: async () => !reason || (performance.now() - looked > PAUSE_MS && (await look())),
  };
}

async function late(): Promise<never> {
  await sleep(LIMIT_MS, null, { ref: false });
  throw new Error(`the spool has not answered for ${LIMIT_MS / 1000} s`);
}

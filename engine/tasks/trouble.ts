import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../db/ops/log.ts';

const LIMIT_MS = 10_000; // for a response of the spool; a share whose server is gone gives none
const PAUSE_MS = 1000; // between two checks

interface Current {
  mark: string | null;
}

/** Tracks whether this host can read the spool. If not, it claims no recordings; other hosts do, or they wait. */
export interface Trouble {
  /** Null if the spool is readable. */
  readonly reason: string | null;
  /** Checks whether recordings can be read. `current`: the spool's id, if the caller has just read it. */
  look(current?: Current): Promise<boolean>;
  /** The same, but checks only while there is trouble. */
  over(): Promise<boolean>;
}

/** `reach` throws when the spool cannot be read. */
export function openTrouble(reach: (current?: Current) => Promise<void>, log: Log): Trouble {
  let reason: string | null = null;
  let looking: Promise<boolean> | null = null;
  let reaching: Promise<void> | null = null; // may hang for ever, so only one at a time
  let looked = Number.NEGATIVE_INFINITY;

  async function find(current?: Current): Promise<boolean> {
    try {
      reaching ??= reach(current).finally(() => {
        reaching = null;
      });
      await Promise.race([reaching, late()]);
      if (reason) log.warn({}, 'the spool is readable again; recordings are claimed');
      reason = null;
    } catch (error) {
      if (!reason) log.error({ error }, 'the spool cannot be read; no recordings are claimed until it can');
      reason = (error as Error).message;
    }
    looked = performance.now();
    return !reason;
  }

  const look = (current?: Current) => {
    looking ??= find(current).finally(() => {
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
  throw new Error(`no response from the spool for ${LIMIT_MS / 1000} s`);
}

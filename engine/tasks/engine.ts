import type { Limits } from '../../api/contract/limits.ts';
import type { ModelCounts } from '../../db/jobs/heartbeat.ts';
import type { Log } from '../../db/ops/log.ts';
import type { Db } from '../../db/postgres/orm.ts';
import type { Vault } from '../../db/secrets/vault.ts';
import type { Spool } from '../../db/spool/spool.ts';
import type { Pool } from '../runtime/pool.ts';
import type { Holdings } from './holdings.ts';
import type { Scratch } from './scratch.ts';
import type { Trouble } from './trouble.ts';

/** Resources that the tasks of one engine share. */
export interface Engine {
  /** Id in the table of engines and on the rows that it holds. */
  id: string;
  db: Db;
  vault: Vault;
  spool: Spool;
  trouble: Trouble;
  pool: Pool;
  scratch: Scratch;
  holdings: Holdings;
  limits: Limits;
  log: Log;
  options: {
    /** Whether beam search is used where it helps. */
    accurate: boolean;
    /** Transcripts older than this are deleted; null: only where a workspace sets a retention. */
    retentionDays: number | null;
    /** The longest that workspaces may keep recordings, in days. */
    keepDays: number;
  };
  /** Since the start. */
  counts: { finished: number; failedDiarizations: number; uncoveredSeconds: number; recognised: Record<string, ModelCounts> };
}

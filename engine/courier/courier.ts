import type { Log } from '../../db/ops/log.ts';
import type { Db } from '../../db/postgres/orm.ts';
import type { Vault } from '../../db/secrets/vault.ts';
import type { Writer } from '../reports/writer.ts';
import type { Holdings } from '../tasks/holdings.ts';

/** Resources that the tasks of one courier share. It has no spool and opens no recordings. */
export interface Courier {
  /** Id in the table of engines and on the rows that it holds. */
  id: string;
  db: Db;
  vault: Vault;
  writer: Writer;
  holdings: Holdings;
  log: Log;
  /** Whether webhooks may be sent to private addresses. */
  privateWebhooks: boolean;
}

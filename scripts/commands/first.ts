import path from 'node:path';
import { operatorOf } from '../../api/contract/actor.ts';
import type { Settings } from '../../api/contract/settings.ts';
import { SCOPES } from '../../api/contract/workspace.ts';
import { createKey } from '../../db/access/keys.ts';
import { addOperator } from '../../db/access/operators.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { loadMasterKeys } from '../../db/secrets/master-key.ts';
import { openVault } from '../../db/secrets/vault.ts';
import { addMember } from '../../db/tenants/members.ts';
import { createWorkspace, listWorkspaces } from '../../db/tenants/workspaces.ts';
import { ROOT } from './environment.ts';

export interface FirstKey {
  /** Its id. */
  workspace: string;
  /** The owner's id. */
  member: string;
  key: string;
}

const MINUTES = 60_000; // 1,000 hours; `admin workspace minutes` adds more

/**
 * Creates the workspace `Default` with an owner and a key with every scope, if there is no workspace yet; else returns null. One transaction under a lock: an
 * interrupted start leaves nothing behind, and of several hosts only one creates it.
 */
export async function firstKey(settings: Settings, url: string): Promise<FirstKey | null> {
  const db = await openDb({ url, pool: 2, name: 'longhand-up' });
  try {
    if ((await db.acrossTenants(listWorkspaces)).length) return null;
    const vault = await openVault(db, await loadMasterKeys(settings));
    return await db.acrossTenants(async (tx) => {
      await tx.rows(`select pg_advisory_xact_lock(hashtextextended('the first key', 0))`);
      if ((await listWorkspaces(tx)).length) return null;
      const workspace = await createWorkspace(tx, vault, { name: 'Default', minutes: MINUTES });
      const operator = operatorOf(workspace.id);
      const owner = await addMember(tx, operator, { email: 'owner@localhost', name: 'Owner', role: 'owner' });
      const { key } = await createKey(tx, operator, { memberId: owner.id, scopes: SCOPES });
      await addOperator(tx, owner.email);
      return { workspace: workspace.id, member: owner.id, key };
    });
  } finally {
    await db.close();
  }
}

/** First steps for a new user; the lines work as printed. */
export function instructions(base: string, { workspace, member, key }: FirstKey): string {
  const curl = `curl -sS -H 'Authorization: Bearer ${key}'`;
  const sample = path.join(ROOT, 'bench', 'data', 'two-speakers.wav');
  const list = `${base}/v1/transcriptions`;
  return `This is the first start. The API key of the workspace Default is shown only once; keep it:

  ${key}

The base URL of the API (BASE in README and the guides) is ${base}/v1
In the browser, sign in with the key: ${base}
If you lose it, create another: '${path.join(ROOT, 'scripts', 'longhand')}' admin key create --workspace ${workspace} --member ${member}

Upload a recording of two speakers:

  ${curl} -H 'X-External-Id: first' -H 'Content-Disposition: attachment; filename="two-speakers.wav"' --data-binary '@${sample}' ${list}

Read the transcript, once its status is completed:

  ${curl} "${list}/$(${curl} '${list}?external_id=first' | grep -o '[0-9a-f-]\\{36\\}' | head -n 1)"

`;
}

import { Migration } from '@mikro-orm/migrations';
import { ACCESS } from './001_initial/access.ts';
import { ENGINES } from './001_initial/engines.ts';
import { LIMITS } from './001_initial/limits.ts';
import { METADATA } from './001_initial/metadata.ts';
import { MINUTES } from './001_initial/minutes.ts';
import { NOTICES } from './001_initial/notices.ts';
import { PEOPLE } from './001_initial/people.ts';
import { REPORTS } from './001_initial/reports.ts';
import { TRANSCRIPTIONS } from './001_initial/transcriptions.ts';

/** The initial schema, referenced tables first. Columns ending in `_sealed` contain values encrypted by db/secrets/vault.ts. */
export class Migration001 extends Migration {
  override up(): void {
    for (const sql of [PEOPLE, TRANSCRIPTIONS, METADATA, REPORTS, MINUTES, LIMITS, ENGINES, ACCESS, NOTICES]) this.addSql(sql);
  }
}

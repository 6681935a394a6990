import { Migration } from '@mikro-orm/migrations';

const INDEXES = [
  ['transcriptions_changed', '(workspace_id, status, changed_in, id) include (updated_at)'],
  ['transcriptions_updated', '(workspace_id, status, updated_at) include (changed_in)'],
  ['transcriptions_unsure', `(workspace_id, confidence) where status = 'completed' and confidence is not null`],
] as const;

/** Built concurrently, as in 021. */
export class Migration052 extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('set lock_timeout = 0');
    for (const [name, definition] of INDEXES) {
      this.addSql(`drop index concurrently if exists ${name}`);
      this.addSql(`create index concurrently ${name} on transcriptions ${definition}`);
    }
    this.addSql('reset lock_timeout');
  }
}

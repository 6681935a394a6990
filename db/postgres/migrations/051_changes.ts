import { Migration } from '@mikro-orm/migrations';

/**
 * The order in which transcriptions changed, for clients that poll for changes: the transaction number. A transaction that begins earlier
 * may end later, so results are final up to the oldest open one (db/transcripts/changes.ts). Also the mean confidence of a transcript, for
 * selecting those to review.
 */
export class Migration051 extends Migration {
  override up(): void {
    this.addSql(`
alter table transcriptions add column changed_in bigint not null default 0; -- 0: before this was kept
alter table transcriptions add column confidence real;                      -- 0 to 1; null: not known
create function note_change() returns trigger language plpgsql as $$
begin
  new.changed_in := pg_current_xact_id()::text::bigint;
  return new;
end $$;
create trigger transcriptions_stamped before insert on transcriptions for each row execute function note_change();
create trigger transcriptions_stamped_again before update on transcriptions for each row
  when (old.updated_at is distinct from new.updated_at or old.status <> new.status) execute function note_change();`);
  }
}

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

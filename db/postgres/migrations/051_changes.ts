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

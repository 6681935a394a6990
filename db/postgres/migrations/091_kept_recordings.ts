import { Migration } from '@mikro-orm/migrations';

const INDEXES = [
  ['transcriptions_kept_until', '(media_until) where media_until is not null'],
  ['transcriptions_kept', '(workspace_id, completed_at) where media_until is not null'],
  [
    'transcriptions_leftover',
    "(id) where media_key_sealed is not null and media_until is null and status in ('completed', 'failed', 'insufficient_balance')",
  ],
] as const;

/**
 * Recordings of completed transcriptions may be kept, encrypted, for a number of days. Whoever deletes a transcription leaves the name of
 * its file, so that the next sweep removes it even if the process that deleted it was killed. A sweep is also late if none is waiting and
 * none began recently: the engine that ran it was killed. Every statement may be repeated, because indexes are built concurrently.
 */
export class Migration091 extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(`
alter table workspaces add column if not exists keep_recordings_days integer not null default 0
  constraint workspaces_keep_recordings_days_check check (keep_recordings_days between 0 and 36500)`);
    this.addSql('alter table transcriptions add column if not exists media_until timestamptz'); // null: removed once it has ended
    this.addSql(`
create or replace function note_media() returns trigger language plpgsql as $$
begin
  insert into spool_orphans (name, seen_at) values (old.id || '.' || old.extension, '-infinity')
  on conflict (name) do update set seen_at = '-infinity', looked_at = now();
  return null;
end $$`);
    this.addSql(`
create or replace trigger transcriptions_media_gone after delete on transcriptions for each row
  when (old.media_key_sealed is not null) execute function note_media()`);
    this.addSql(`
create or replace function longhand_sweep_is_late(seconds double precision)
returns boolean language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select from graphile_worker.jobs where key = 'sweep' and run_at > now() + seconds * interval '1 second')
    or not exists (select from graphile_worker.jobs where task_identifier = 'sweep' and attempts < max_attempts
      and (locked_at is null or locked_at > now() - interval '20 seconds'));
end $$`);
    this.addSql('set lock_timeout = 0'); // as in 021
    for (const [name, definition] of INDEXES) {
      this.addSql(`drop index concurrently if exists ${name}`);
      this.addSql(`create index concurrently ${name} on transcriptions ${definition}`);
    }
    this.addSql('reset lock_timeout');
  }
}

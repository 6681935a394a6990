import { Migration } from '@mikro-orm/migrations';

/**
 * The slot of an upload knows the name of its file, so that the files of an upload whose process was killed are removed with the expired
 * slot. The list of the spool, in parts, only finds what no row announced. A slot of the previous version has no extension.
 */
export class Migration096 extends Migration {
  override up(): void {
    this.addSql('alter table upload_leases add column extension text');
    this.addSql(`
create function note_upload() returns trigger language plpgsql as $$
begin
  insert into spool_orphans (name, seen_at) select old.id || '.' || old.extension || e, '-infinity' from unnest(array['', '.part']) e
  on conflict (name) do update set seen_at = '-infinity', looked_at = now();
  return null;
end $$;
create trigger upload_leases_expired after delete on upload_leases for each row
  when (old.extension is not null and old.lease_until < clock_timestamp()) execute function note_upload();
create index spool_orphans_seen on spool_orphans (seen_at)`);
  }
}

import { Migration } from '@mikro-orm/migrations';

/**
 * A slot whose file has no name yet, that of a form, has an empty extension in the previous version, and left names that no spool accepts: the files
 * noted after them were never removed.
 */
export class Migration097 extends Migration {
  override up(): void {
    this.addSql(`delete from spool_orphans where name ~ '\\.(\\.part)?$'`);
    this.addSql('drop trigger upload_leases_expired on upload_leases');
    this.addSql(`
create trigger upload_leases_expired after delete on upload_leases for each row
  when (old.extension <> '' and old.lease_until < clock_timestamp()) execute function note_upload()`);
  }
}

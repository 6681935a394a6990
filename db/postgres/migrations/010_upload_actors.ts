import { Migration } from '@mikro-orm/migrations';

/**
 * Who an upload in progress belongs to, a column per kind of actor: key, token, or signed-in member. Older programs write every id into
 * key_id, where it is counted as before.
 */
export class Migration010 extends Migration {
  override up(): void {
    this.addSql('alter table upload_leases add column token_id uuid, add column session_member_id uuid');
  }
}

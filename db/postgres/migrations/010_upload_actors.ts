import { Migration } from '@mikro-orm/migrations';

/**
 * Whose upload is in flight, a column for each kind of actor: the key, the token, or the signed-in member. Older programs write every id into key_id,
 * where it is counted as before.
 */
export class Migration010 extends Migration {
  override up(): void {
    this.addSql('alter table upload_leases add column token_id uuid, add column session_member_id uuid');
  }
}

import { Migration } from '@mikro-orm/migrations';

/** An index for finding deleted workspaces with remaining rows. */
export class Migration041 extends Migration {
  override up(): void {
    this.addSql('create index workspaces_deleted on workspaces (id) where deleted_at is not null');
  }
}

import { Migration } from '@mikro-orm/migrations';

/** Deleted workspaces, of which rows are left, are found without reading the others. */
export class Migration041 extends Migration {
  override up(): void {
    this.addSql('create index workspaces_deleted on workspaces (id) where deleted_at is not null');
  }
}

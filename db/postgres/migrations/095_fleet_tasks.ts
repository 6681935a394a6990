import { Migration } from '@mikro-orm/migrations';

/**
 * When the tasks of the whole fleet are due. A heartbeat takes a due task, so that the queue, whose jobs every process polls for, has none
 * of them. Engines of the previous version continue to run theirs from the queue.
 */
export class Migration095 extends Migration {
  override up(): void {
    this.addSql(`
create table fleet_tasks (
  name text primary key,
  due_at timestamptz not null default now()
) with (fillfactor = 50);
insert into fleet_tasks (name) values ('sweep'), ('tidy')`);
  }
}

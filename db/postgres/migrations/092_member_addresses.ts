import { Migration } from '@mikro-orm/migrations';

/**
 * Sign-in finds members by their address in lower case. An index on lower(email) cannot serve it: lower() is not leakproof, so row-level
 * security evaluates it only on rows that the policies have passed, which reads all members.
 */
export class Migration092 extends Migration {
  override up(): void {
    this.addSql(`
alter table members add column email_lower text generated always as (lower(email)) stored;
drop index members_address, members_invited;
create index members_address on members (email_lower) where status = 'active';
create index members_invited on members (email_lower) where status = 'pending'`);
  }
}

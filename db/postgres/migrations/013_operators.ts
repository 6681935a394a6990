import { Migration } from '@mikro-orm/migrations';

/**
 * Operators of the installation, by address, and per sign-in whether a trusted party confirms that this person owns the address: the
 * command line or the sign-in provider, but not a workspace owner. Existing links and keys count as created on the command line.
 */
export class Migration013 extends Migration {
  override up(): void {
    this.addSql(`
create table operators (
  email text primary key,                               -- lower case
  created_at timestamptz not null default now()
);
alter table api_keys add column vouched boolean not null default true;
alter table sign_in_links add column vouched boolean not null default true;
alter table sessions add column vouched boolean not null default true;
`);
  }
}

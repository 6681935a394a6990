import { Migration } from '@mikro-orm/migrations';

/**
 * The installation's operators, by address, and for each sign-in whether somebody who is to be trusted vouches that it is the person of that address: the command
 * line or the sign-in provider, not an owner of some workspace. Links and keys from before count as the command line's.
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

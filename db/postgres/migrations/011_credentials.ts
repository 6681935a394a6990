import { Migration } from '@mikro-orm/migrations';

/**
 * Origin of a credential: the key whose session created a key, link, code or token, so that all of them end with it. Sessions and tokens
 * get columns for listing and ending them, and for repeating the response to a refresh token if it was lost. Older programs write none of
 * these columns.
 */
export class Migration011 extends Migration {
  override up(): void {
    this.addSql(`
alter table api_keys add column parent_id uuid;         -- keys go with their workspace only
create index api_keys_parent on api_keys (parent_id) where parent_id is not null;

alter table sessions add column id uuid not null default gen_random_uuid();
create unique index sessions_id on sessions (id);

alter table sign_in_links add column key_id uuid references api_keys on delete cascade;
create index sign_in_links_key on sign_in_links (key_id) where key_id is not null;

alter table oauth_codes add column key_id uuid references api_keys on delete cascade;
create index oauth_codes_key on oauth_codes (key_id) where key_id is not null;

alter table oauth_tokens
  add column key_id uuid references api_keys on delete cascade,
  add column replaced_at timestamptz,                   -- of a refresh token: when it was exchanged
  add column predecessor_id uuid;                       -- the refresh token that it was exchanged for
create index oauth_tokens_key on oauth_tokens (key_id) where key_id is not null;

alter table oauth_clients add column last_used_at timestamptz not null default now();
`);
  }
}

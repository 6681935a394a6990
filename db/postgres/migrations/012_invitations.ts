import { Migration } from '@mikro-orm/migrations';

/**
 * Members join by accepting: invitations, and the sign-in provider's identity of a member. A member added by an owner can no longer sign in
 * by the e-mail address alone (email_trusted); existing members and those added by the operator can, until a provider's identity is bound
 * to them. Older programs add members as before.
 */
export class Migration012 extends Migration {
  override up(): void {
    this.addSql(`
alter table members add column email_trusted boolean not null default true;

create table sign_in_bindings (
  member_id uuid not null references members on delete cascade,
  issuer text not null,
  workspace_id uuid not null references workspaces on delete cascade,
  subject text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  primary key (member_id, issuer)
);
create index sign_in_bindings_subject on sign_in_bindings (issuer, subject);
create index sign_in_bindings_workspace on sign_in_bindings (workspace_id);

create table invitations (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  member_id uuid not null references members on delete cascade, -- pending until it is accepted
  hash bytea not null,                                  -- SHA-256 of the secret in the link
  invited_by uuid references members on delete set null, -- null: the operator
  key_id uuid references api_keys on delete cascade,    -- with which it ends
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz
);
create index invitations_workspace on invitations (workspace_id, created_at);
create index invitations_member on invitations (member_id);
create unique index invitations_hash on invitations (hash);
create index invitations_invited_by on invitations (invited_by) where invited_by is not null;
create index invitations_key on invitations (key_id) where key_id is not null;

do $$
declare
  name text;
begin
  foreach name in array array['sign_in_bindings', 'invitations'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy workspace on %I using ((select current_setting(''longhand.workspace'', true)) = ''*''
      or workspace_id = (select nullif(nullif(current_setting(''longhand.workspace'', true), ''*''), '''')::uuid))', name);
  end loop;
end $$;

create index members_invited on members (lower(email)) where status = 'pending';
`);
  }
}

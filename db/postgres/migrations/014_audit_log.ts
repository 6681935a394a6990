import { Migration } from '@mikro-orm/migrations';

/** Audit log of ids without content. It outlives workspaces, so it has no foreign keys. */
export class Migration014 extends Migration {
  override up(): void {
    this.addSql(`
create table audit_log (
  id bigint generated always as identity primary key,
  workspace_id uuid not null,
  at timestamptz not null default now(),
  actor_kind text not null check (actor_kind in ('key', 'token', 'session', 'operator')),
  actor_id uuid,                                        -- of the key, token or session
  member_id uuid,                                       -- in whose name
  action text not null,
  target_id text
);
create index audit_log_workspace on audit_log (workspace_id, id);
create index audit_log_at on audit_log (at);
alter table audit_log enable row level security;
alter table audit_log force row level security;
create policy workspace on audit_log using ((select current_setting('longhand.workspace', true)) = '*'
  or workspace_id = (select nullif(nullif(current_setting('longhand.workspace', true), '*'), '')::uuid));
`);
  }
}

/** Templates and reports. */
export const REPORTS = `
create table templates (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  owner_id uuid references members on delete cascade,   -- null: published for the whole workspace
  scope text not null check (scope in ('workspace', 'personal')),
  slug text not null check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 64),
  name text not null,
  description text,
  prompt text not null,
  status text not null default 'published' check (status in ('draft', 'published')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((scope = 'personal') = (owner_id is not null))
);
create unique index templates_workspace_slug on templates (workspace_id, slug) where scope = 'workspace';
create unique index templates_personal_slug on templates (workspace_id, owner_id, slug) where scope = 'personal';

create table reports (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  transcription_id uuid not null references transcriptions on delete cascade,
  template_id uuid references templates on delete set null,
  slug text not null,
  name text not null,
  status text not null check (status in ('queued', 'processing', 'completed', 'failed')),
  error_code text,
  text_sealed bytea,
  lease_token uuid,
  lease_until timestamptz,
  engine_id uuid,
  attempt integer not null default 0,
  deaths integer not null default 0,
  run_after timestamptz not null default now(),
  created_at timestamptz not null default now(),
  completed_at timestamptz
);
create unique index reports_live on reports (transcription_id, slug) where status in ('queued', 'processing', 'completed');
create index reports_transcription on reports (transcription_id, created_at, id);
create index reports_open on reports (workspace_id, created_at) where status in ('queued', 'processing');
`;

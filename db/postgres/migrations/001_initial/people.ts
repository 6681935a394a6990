/** Workspaces, members, keys and projects. */
export const PEOPLE = `
create table workspaces (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  plan text not null default 'api' check (plan in ('api', 'free')),
  concurrency integer not null default 4 check (concurrency between 1 and 1000),
  balance_minutes numeric not null default 0,           -- granted minus charged; open reservations are NOT subtracted here
  retention_days integer,
  vocabulary_sealed bytea,
  served_at timestamptz not null default 'epoch',       -- when a slot was last given to this workspace: the turn of dispatch
  created_at timestamptz not null default now()
);

create table data_keys (                                -- one key per workspace and version, wrapped by the master key
  workspace_id uuid not null references workspaces on delete cascade,
  version integer not null,
  wrapped bytea not null,
  master_key_id text not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, version)
);

create table members (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  email text not null,
  name text,
  role text not null default 'user' check (role in ('owner', 'user')),
  status text not null default 'active' check (status in ('active', 'pending', 'removed')),
  created_at timestamptz not null default now(),
  removed_at timestamptz
);
create unique index members_email on members (workspace_id, lower(email)) where status <> 'removed';

create table identities (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  member_id uuid not null references members on delete cascade,
  provider text not null,
  external_id text not null,
  created_at timestamptz not null default now(),
  unique (workspace_id, provider, external_id)
);
create index identities_member on identities (member_id);

create table api_keys (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  member_id uuid not null references members on delete cascade,
  hash bytea not null unique,                           -- SHA-256 of the whole key
  hint text not null,                                   -- last 4 characters, for people
  name text,
  scopes text[] not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index api_keys_workspace on api_keys (workspace_id);

create table projects (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  name text not null,
  created_at timestamptz not null default now()
);
create index projects_workspace on projects (workspace_id, created_at desc, id);

create table project_members (
  project_id uuid not null references projects on delete cascade,
  member_id uuid not null references members on delete cascade,
  workspace_id uuid not null references workspaces on delete cascade,
  role text not null check (role in ('viewer', 'editor', 'owner')),
  primary key (project_id, member_id)
);
create index project_members_member on project_members (member_id);
`;

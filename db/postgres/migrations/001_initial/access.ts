/** Sign-in of people and their assistants. */
export const ACCESS = `
create table sessions (                                 -- signed-in people
  hash bytea primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  member_id uuid not null references members on delete cascade,
  csrf text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create table sign_in_links (
  hash bytea primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  member_id uuid not null references members on delete cascade,
  expires_at timestamptz not null,
  used_at timestamptz
);

create table oauth_clients (
  id text primary key,
  name text not null,
  redirect_uris text[] not null,
  secret_hash bytea,
  created_at timestamptz not null default now()
);

create table oauth_codes (
  hash bytea primary key,
  client_id text not null references oauth_clients on delete cascade,
  workspace_id uuid not null references workspaces on delete cascade,
  member_id uuid not null references members on delete cascade,
  scopes text[] not null,
  resource text not null,
  redirect_uri text not null,
  code_challenge text not null,
  expires_at timestamptz not null,
  used_at timestamptz
);

create table oauth_tokens (
  id uuid primary key default gen_random_uuid(),
  hash bytea not null unique,
  kind text not null check (kind in ('access', 'refresh')),
  family uuid not null,                                 -- tokens descended from one consent: revoked together
  client_id text references oauth_clients on delete cascade,
  workspace_id uuid not null references workspaces on delete cascade,
  member_id uuid not null references members on delete cascade,
  scopes text[] not null,
  resource text,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  created_at timestamptz not null default now()
);
create index oauth_tokens_family on oauth_tokens (family);
`;

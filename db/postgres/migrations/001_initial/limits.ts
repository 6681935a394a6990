/** Uploads in progress, and counters for limits. */
export const LIMITS = `
create table idempotency_keys (
  workspace_id uuid not null references workspaces on delete cascade,
  key text not null,
  transcription_id uuid not null,
  token uuid not null,                                  -- fences the owner
  node_id uuid not null,
  answer jsonb,                                         -- body of the 201; null while in flight
  lease_until timestamptz,
  expires_at timestamptz,
  primary key (workspace_id, key)
);
create index idempotency_transcription on idempotency_keys (transcription_id);

create table upload_leases (
  id uuid primary key,                                  -- the transcription's id to be
  workspace_id uuid not null references workspaces on delete cascade,
  key_id uuid,                                          -- the key or token: whose uploads are counted together
  node_id uuid not null,
  reports integer not null default 0,                   -- requested with it: they count against the day's cap already
  lease_until timestamptz not null,
  started_at timestamptz not null default now()
);
create index upload_leases_workspace on upload_leases (workspace_id, lease_until);

create table counters (                                 -- per workspace and UTC day: uploads, reports
  workspace_id uuid not null references workspaces on delete cascade,
  name text not null,
  day date not null,
  count integer not null default 0,
  primary key (workspace_id, name, day)
);

create unlogged table rates (                           -- token buckets shared by all API hosts
  subject text primary key,
  tokens double precision not null,
  refilled_at timestamptz not null default now()
);

create unlogged table deletions (                       -- sliding window of delete requests per key
  id bigint generated always as identity primary key,
  subject uuid not null,
  at timestamptz not null default now()
);
create index deletions_subject on deletions (subject, at);
`;

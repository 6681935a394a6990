import { Migration } from '@mikro-orm/migrations';

/** Everything of specification parts 2, 3, 4.4 and 8. Columns ending in `_sealed` hold values encrypted by db/vault.ts. */
export class Migration001 extends Migration {
  override up(): void {
    this.addSql(`
-- who

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

-- transcriptions

create table transcriptions (
  id uuid primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  project_id uuid references projects on delete set null,
  key_id uuid references api_keys on delete set null,   -- the key that uploaded it
  creator_id uuid,                                      -- the member whose key uploaded it
  author_id uuid not null,                              -- id, email and name stay when the member leaves
  author_email text not null,
  author_name text,
  status text not null check (status in ('queued', 'processing', 'completed', 'failed', 'insufficient_balance')),
  title_sealed bytea,                                   -- null: the file name is the title
  filename_sealed bytea not null,
  extension text not null,
  size_bytes bigint not null default 0,
  media_type text check (media_type in ('audio', 'video')),
  requested_language text not null default 'auto',
  language text,
  diarize boolean not null default true,
  diarized boolean not null default false,
  speakers_count integer check (speakers_count between 1 and 20),
  ai_metadata boolean not null default false,
  external_id text,
  metadata_text text,                                   -- as received, for output
  metadata jsonb,                                       -- for search only
  duration_seconds double precision,
  summary_sealed bytea,
  topics_sealed bytea,                                  -- JSON array of strings
  speakers_sealed bytea,                                -- JSON array of {id, ai_name, name}, in order of first appearance
  error_code text,
  required_minutes numeric,
  available_minutes numeric,
  stage text not null default 'waiting',
  fraction real not null default 0,
  -- spooled media: null once deleted
  media_key_sealed bytea,                               -- the key of the sealed spool file, wrapped by the workspace's data key
  media_bytes bigint,
  probed_at timestamptz,                                -- set: waits for a slot; null: waits for the probe
  -- the lease: who works on it now
  lease_token uuid,
  lease_until timestamptz,
  engine_id uuid,
  attempt integer not null default 0,
  deaths integer not null default 0,                    -- engines that died holding it
  run_after timestamptz not null default now(),         -- back-off
  -- history
  reports_made integer not null default 0,              -- counts against REPORTS_PER_TRANSCRIPTION
  started_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index transcriptions_created on transcriptions (workspace_id, status, created_at desc, id);
create index transcriptions_duration on transcriptions (workspace_id, status, duration_seconds desc nulls last, id);
create index transcriptions_duration_up on transcriptions (workspace_id, status, duration_seconds asc nulls last, id);
create index transcriptions_external on transcriptions (workspace_id, external_id) where external_id is not null;
create index transcriptions_author on transcriptions (workspace_id, author_id);
create index transcriptions_creator on transcriptions (workspace_id, creator_id);
create index transcriptions_project on transcriptions (project_id) where project_id is not null;
create index transcriptions_open on transcriptions (workspace_id, created_at) where status in ('queued', 'processing');
create index transcriptions_lease on transcriptions (lease_until) where lease_token is not null;
create index transcriptions_media on transcriptions (id) where media_key_sealed is not null;

create table metadata_terms (                           -- what the filters metadata.<key> find; kept by a trigger
  transcription_id uuid not null references transcriptions on delete cascade,
  workspace_id uuid not null references workspaces on delete cascade,
  term uuid not null,                                   -- metadata_term() of a top-level key and a value
  status text not null,                                 -- the transcription's, so that a count needs this index only
  created_at timestamptz not null,
  primary key (transcription_id, term)
);
create index metadata_terms_find on metadata_terms (workspace_id, term, status, created_at desc, transcription_id);

-- A GIN index on jsonb cannot serve: jsonb operators are not leakproof, so no index on them is used under row-level security; and jsonb
-- takes 1e2 and 100 for the same number, where a filter compares the text as it was received. SHA-256 of key, NUL, value, cut to 128
-- bits; termOf() in db/matching.ts is the same.
create function metadata_term(key text, value text) returns uuid language sql stable as $$
  select encode(substr(sha256(convert_to(key, 'UTF8') || '\\x00'::bytea || convert_to(value, 'UTF8')), 1, 16), 'hex')::uuid
$$;

-- The text of a scalar; of an array its elements, at both depths that metadata may have; objects never match.
create function metadata_scalars(value json, depth integer) returns setof text language plpgsql immutable as $$
begin
  case json_typeof(value)
    when 'object' then return;
    when 'array' then
      if depth > 0 then
        return query select s from json_array_elements(value) e, metadata_scalars(e, depth - 1) s;
      end if;
    else return next coalesce(value #>> '{}', 'null');
  end case;
end $$;

create function keep_metadata_terms() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into metadata_terms (transcription_id, workspace_id, term, status, created_at)
    select distinct new.id, new.workspace_id, metadata_term(m.key, s), new.status, new.created_at
    from json_each(new.metadata_text::json) m, metadata_scalars(m.value, 2) s;
  else
    update metadata_terms set status = new.status where transcription_id = new.id;
  end if;
  return null;
end $$;
create trigger transcriptions_terms after insert on transcriptions
  for each row when (new.metadata_text is not null) execute function keep_metadata_terms();
create trigger transcriptions_terms_status after update of status on transcriptions
  for each row when (new.metadata_text is not null and new.status <> old.status) execute function keep_metadata_terms();

create table segments (                                 -- the turns of one transcript, in blocks
  transcription_id uuid not null references transcriptions on delete cascade,
  workspace_id uuid not null references workspaces on delete cascade,
  block integer not null,
  turns_sealed bytea not null,                          -- JSON array of {id, start, end, speaker, text}
  words_sealed bytea not null,                          -- JSON array, per turn an array of [start, end, text]
  primary key (transcription_id, block)
);

create table checkpoints (                              -- finished chunks of a running transcription
  transcription_id uuid not null references transcriptions on delete cascade,
  workspace_id uuid not null references workspaces on delete cascade,
  name text not null,
  value_sealed bytea not null,
  primary key (transcription_id, name)
);

-- reports

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

-- minutes

create table reservations (                             -- open reservations
  transcription_id uuid primary key references transcriptions on delete cascade,
  workspace_id uuid not null references workspaces on delete cascade,
  minutes numeric not null,
  created_at timestamptz not null default now()
);
create index reservations_workspace on reservations (workspace_id);

create table ledger (                                   -- grants (+) and charges (-); outlives the transcription
  id bigint generated always as identity primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  transcription_id uuid unique,                         -- one charge at most
  minutes numeric not null,
  created_at timestamptz not null default now()
);
create index ledger_workspace on ledger (workspace_id, created_at);

-- uploads in flight, limits

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

-- engines

create table engines (
  id uuid primary key,
  host text not null,
  pid integer not null,
  version text not null default '',
  device text not null default 'cpu',
  model text not null default '',
  concurrency integer not null default 1,
  worker_ids text[] not null default '{}',              -- graphile-worker ids, for force_unlock_workers
  memory_bytes bigint not null default 0,
  working integer not null default 0,                   -- transcriptions at work
  finished integer not null default 0,                  -- transcriptions ended since its start
  failed_diarizations integer not null default 0,
  started_at timestamptz not null default now(),
  last_seen timestamptz not null default now(),
  last_poll timestamptz
);

-- console, assistants, webhooks

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

create table notifications (                            -- "your transcription is ready", for the author
  id bigint generated always as identity primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  member_id uuid not null,
  transcription_id uuid not null references transcriptions on delete cascade,
  created_at timestamptz not null default now(),
  read_at timestamptz
);
create index notifications_member on notifications (member_id, created_at desc);

create table webhooks (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  url text not null,
  secret_sealed bytea not null,
  active boolean not null default true,
  created_at timestamptz not null default now()
);

create table deliveries (                               -- the outbox: written with each terminal status
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  webhook_id uuid not null references webhooks on delete cascade,
  event text not null,
  body jsonb not null,                                  -- ids and status, no text
  status text not null default 'pending' check (status in ('pending', 'delivered', 'dead')),
  attempt integer not null default 0,
  next_at timestamptz not null default now(),
  last_status integer,
  last_error text,
  created_at timestamptz not null default now(),
  delivered_at timestamptz
);
create index deliveries_due on deliveries (next_at) where status = 'pending';
create index deliveries_webhook on deliveries (webhook_id, created_at desc);

create table facts (                                    -- canary of the master key, and what else the installation must remember
  name text primary key,
  value bytea not null
);
`);
  }
}

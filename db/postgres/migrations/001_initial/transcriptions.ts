/** Transcriptions from upload to result, transcripts, and checkpoints of running work. */
export const TRANSCRIPTIONS = `
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
`;

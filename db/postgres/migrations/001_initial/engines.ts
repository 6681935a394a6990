/** Running engines, and settings of the installation. */
export const ENGINES = `
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

create table facts (                                    -- canary of the master key, and what else the installation must remember
  name text primary key,
  value bytea not null
);
`;

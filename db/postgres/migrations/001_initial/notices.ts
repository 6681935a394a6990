/** Notifications of authors and webhooks when work has ended. */
export const NOTICES = `
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
`;

/** Grants, reservations and charges of a workspace. */
export const MINUTES = `
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
`;

import { Migration } from '@mikro-orm/migrations';

/**
 * A courier makes all outgoing calls; it opens no recordings. It registers in the table of engines, and writes title and summary for an
 * engine that waits for them. Engines of the previous version make such calls themselves and do not use `layers`.
 */
export class Migration067 extends Migration {
  override up(): void {
    this.addSql(`
alter table engines add column role text not null default 'engine' check (role in ('engine', 'courier'));
create table layers (                                   -- title, summary, topics and names that an engine asks for
  transcription_id uuid primary key references transcriptions on delete cascade,
  workspace_id uuid not null references workspaces on delete cascade,
  token uuid not null default gen_random_uuid(),        -- of one request: a later one replaces it
  source_sealed bytea not null,
  result_sealed bytea,
  status text not null default 'queued' check (status in ('queued', 'processing', 'completed', 'failed')),
  created_at timestamptz not null default now()
);
create index layers_workspace on layers (workspace_id);
create index layers_waiting on layers (created_at) where status = 'queued';
alter table layers enable row level security;
alter table layers force row level security;
create policy workspace on layers using ((select current_setting('longhand.workspace', true)) = '*'
  or workspace_id = (select nullif(nullif(current_setting('longhand.workspace', true), '*'), '')::uuid));`);
  }
}

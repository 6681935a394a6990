import { Migration } from '@mikro-orm/migrations';

/**
 * Previews of templates before they are published, one at a time per member; and metrics of an engine's language model, as JSON. Older
 * engines neither read the table nor write the column.
 */
export class Migration004 extends Migration {
  override up(): void {
    this.addSql(`
create table previews (
  id uuid primary key default gen_random_uuid(),
  workspace_id uuid not null references workspaces on delete cascade,
  member_id uuid not null unique references members on delete cascade,
  transcription_id uuid references transcriptions on delete cascade, -- null: the sample
  slug text not null,
  name text not null,
  prompt text,                                          -- null: a built-in template
  status text not null default 'queued' check (status in ('queued', 'processing', 'completed', 'failed')),
  error_code text,
  writer text not null default '',                      -- the model's name, or 'built-in'
  text_sealed bytea,
  lease_token uuid,
  lease_until timestamptz,
  engine_id uuid,
  attempt integer not null default 0,
  run_after timestamptz not null default now(),
  created_at timestamptz not null default now()
);
alter table previews enable row level security;
alter table previews force row level security;
create policy workspace on previews using ((select current_setting('longhand.workspace', true)) = '*'
  or workspace_id = (select nullif(nullif(current_setting('longhand.workspace', true), '*'), '')::uuid));
alter table engines add column writing jsonb not null default '{}'`);
  }
}

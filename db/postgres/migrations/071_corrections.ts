import { Migration } from '@mikro-orm/migrations';

/**
 * Corrections of transcripts, encrypted like transcripts. Their authors stay readable after the member was removed, so there is no
 * reference to members.
 */
export class Migration071 extends Migration {
  override up(): void {
    this.addSql(`
create table corrections (
  id uuid primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  transcription_id uuid not null references transcriptions on delete cascade,
  version integer not null,                             -- 1, 2, 3 … within the transcript
  at timestamptz not null default now(),
  change_sealed bytea not null                          -- who, what it was, what it became: db/transcripts/corrections.ts
);
create unique index corrections_version on corrections (transcription_id, version);
create index corrections_workspace on corrections (workspace_id);
alter table corrections enable row level security;
alter table corrections force row level security;
create policy workspace on corrections using ((select current_setting('longhand.workspace', true)) = '*'
  or workspace_id = (select nullif(nullif(current_setting('longhand.workspace', true), '*'), '')::uuid));`);
  }
}

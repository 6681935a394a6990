import { Migration } from '@mikro-orm/migrations';

const POLICY = (table: string) => `
alter table ${table} enable row level security;
alter table ${table} force row level security;
create policy workspace on ${table} using ((select current_setting('longhand.workspace', true)) = '*'
  or workspace_id = (select nullif(nullif(current_setting('longhand.workspace', true), '*'), '')::uuid));`;

/**
 * The search index: keyed hashes of words by transcript (db/search). Triggers record what must be indexed again, whichever program writes,
 * so transcripts of older engines are found as well; existing ones are indexed in the background.
 */
export class Migration050 extends Migration {
  override up(): void {
    this.addSql(`
create table search_states (                            -- one row for a workspace whose words are indexed
  workspace_id uuid primary key references workspaces on delete cascade,
  key_version integer not null,                         -- the data key that its hashing key comes from
  last_number integer not null default 0,
  due boolean not null default false,                   -- blocks are to be made or merged
  merged_until timestamptz not null default 'epoch'     -- an engine is at it until then
);
create index search_states_due on search_states (merged_until) where due;
create table search_documents (                         -- the number under which a transcript is indexed; a new one whenever its words change
  transcription_id uuid primary key references transcriptions on delete cascade,
  workspace_id uuid not null references workspaces on delete cascade,
  number integer not null
);
create unique index search_documents_number on search_documents (workspace_id, number) include (transcription_id);
create table search_fresh (                             -- terms of the newest numbers, which are in no block yet
  workspace_id uuid not null references workspaces on delete cascade,
  number integer not null,
  terms bigint[] not null,
  primary key (workspace_id, number)
);
create table search_blocks (                            -- a range of numbers whose terms are packed together
  id bigint generated always as identity primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  level integer not null,
  first integer not null,
  last integer not null,
  ready boolean not null default false
);
create index search_blocks_place on search_blocks (workspace_id, level, first);
create table search_postings (                          -- the packed terms of a block, by their first bits
  block_id bigint not null references search_blocks on delete cascade,
  bucket integer not null,
  workspace_id uuid not null,
  data bytea not null,
  primary key (block_id, bucket)
);
alter table search_postings alter column data set storage external; -- it cannot be compressed further
create table search_gone (                              -- numbers that blocks still hold and no transcript has
  workspace_id uuid not null references workspaces on delete cascade,
  number integer not null,
  gone_at timestamptz not null default now(),
  primary key (workspace_id, number)
);
create table search_waiting (                           -- transcripts to be indexed or reindexed
  transcription_id uuid primary key references transcriptions on delete cascade,
  workspace_id uuid not null references workspaces on delete cascade,
  attempt integer not null default 0,
  due_at timestamptz not null default now()
);
create index search_waiting_due on search_waiting (due_at);
create index search_waiting_workspace on search_waiting (workspace_id, due_at);`);
    for (const table of ['states', 'documents', 'fresh', 'blocks', 'postings', 'gone', 'waiting']) this.addSql(POLICY(`search_${table}`));
    this.addSql(`
create function note_unsearchable() returns trigger language plpgsql as $$
begin
  insert into search_waiting (transcription_id, workspace_id) values (new.id, new.workspace_id)
  on conflict (transcription_id) do update set due_at = now(), attempt = 0;
  return null;
end $$;
create trigger transcriptions_said after insert on transcriptions for each row
  when (new.status = 'completed') execute function note_unsearchable();
create trigger transcriptions_said_now after update of status, title_sealed on transcriptions for each row
  when (new.status = 'completed' and (old.status <> 'completed' or old.title_sealed is distinct from new.title_sealed)) execute function note_unsearchable();

create function note_segments() returns trigger language plpgsql as $$
begin
  insert into search_waiting (transcription_id, workspace_id)
  select distinct t.id, t.workspace_id from changed c join transcriptions t on t.id = c.transcription_id and t.workspace_id = c.workspace_id
  where t.status = 'completed'
  on conflict (transcription_id) do update set due_at = now(), attempt = 0;
  return null;
end $$;
create trigger segments_added after insert on segments referencing new table as changed for each statement execute function note_segments();
create trigger segments_changed after update on segments referencing new table as changed for each statement execute function note_segments();

create function note_gone() returns trigger language plpgsql as $$
begin
  delete from search_fresh where workspace_id = old.workspace_id and number = old.number;
  if not found then
    insert into search_gone (workspace_id, number)
    select w.id, old.number from workspaces w where w.id = old.workspace_id -- not while the workspace itself is deleted
    on conflict do nothing;
  end if;
  return null;
end $$;
create trigger search_documents_gone after delete on search_documents for each row execute function note_gone();

insert into search_waiting (transcription_id, workspace_id) select id, workspace_id from transcriptions where status = 'completed';`);
  }
}

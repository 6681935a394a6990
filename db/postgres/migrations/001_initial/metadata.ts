/** Index for the filters `metadata.<key>`. */
export const METADATA = `
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
-- bits; termOf() in db/transcripts/filter.ts is the same.
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
`;

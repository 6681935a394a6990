import { Migration } from '@mikro-orm/migrations';

/**
 * Indexes again in the background where blocks of the search index may be damaged: earlier versions merged blocks that did not adjoin. Their
 * ranges overlap, until blocks of the highest level are made from them: those show nothing of it.
 */
export class Migration098 extends Migration {
  override up(): void {
    this.addSql(`
do $$
declare damaged uuid[];
begin
  lock table search_documents, search_fresh, search_blocks, search_gone in exclusive mode;
  damaged := array(
    select distinct b.workspace_id from search_blocks b where b.ready and (b.level = 3 or exists (
      select from search_blocks o where o.workspace_id = b.workspace_id and o.ready and o.id <> b.id and o.first <= b.last and o.last >= b.first)));
  insert into search_waiting (transcription_id, workspace_id)
  select d.transcription_id, d.workspace_id from search_documents d where d.workspace_id = any (damaged) on conflict do nothing;
  delete from search_documents where workspace_id = any (damaged);
  delete from search_fresh where workspace_id = any (damaged);
  delete from search_blocks where workspace_id = any (damaged);
  delete from search_gone where workspace_id = any (damaged); -- last: deleting documents adds to it
end $$;`);
  }
}

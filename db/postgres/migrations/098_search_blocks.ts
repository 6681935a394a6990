import { Migration } from '@mikro-orm/migrations';

/**
 * Indexes again in the background where blocks of the search index may be damaged: earlier versions merged blocks that did not adjoin. Their
 * ranges overlap, until blocks of the highest level are made from them: those show nothing of it. Locks as `indexAgain()` does, so that
 * programs can go on, and those of other workspaces need not wait.
 */
export class Migration098 extends Migration {
  override up(): void {
    this.addSql(`
do $$
declare damaged uuid[];
begin
  damaged := array(
    select distinct b.workspace_id from search_blocks b where b.ready and (b.level = 3 or exists (
      select from search_blocks o where o.workspace_id = b.workspace_id and o.ready and o.id <> b.id and o.first <= b.last and o.last >= b.first)));
  perform 1 from search_states s where s.workspace_id = any (damaged) order by s.workspace_id for update;
  insert into search_waiting (transcription_id, workspace_id) select t.id, t.workspace_id
  from search_documents d join transcriptions t on t.id = d.transcription_id where d.workspace_id = any (damaged) for key share of t on conflict do nothing;
  delete from search_documents where workspace_id = any (damaged);
  delete from search_fresh where workspace_id = any (damaged);
  delete from search_blocks where workspace_id = any (damaged);
  delete from search_gone where workspace_id = any (damaged); -- last: deleting documents adds to it
end $$;`);
  }
}

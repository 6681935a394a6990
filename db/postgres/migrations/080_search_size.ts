import { Migration } from '@mikro-orm/migrations';

/**
 * A smaller search index. Blocks have a new encoding, so everything is reindexed in the background. The index of numbers no longer repeats
 * ids, because rows are stored in the order of their numbers. Blocks are written once and deleted as a whole, so autovacuum comes early.
 */
export class Migration080 extends Migration {
  override up(): void {
    this.addSql(`
insert into search_waiting (transcription_id, workspace_id) select transcription_id, workspace_id from search_documents on conflict do nothing;
truncate search_documents, search_fresh, search_blocks, search_postings, search_gone;
drop index search_documents_number;
create unique index search_documents_number on search_documents (workspace_id, number);
alter table search_fresh set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
alter table search_postings set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
alter table search_waiting set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);`);
  }
}

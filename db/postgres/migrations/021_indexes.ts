import { Migration } from '@mikro-orm/migrations';

/** By name and table. */
const INDEXES: readonly [name: string, definition: string, of: string][] = [
  [
    'transcriptions_unprobed',
    "(workspace_id, created_at, id) where status = 'queued' and probed_at is null and lease_token is null",
    'transcriptions',
  ],
  [
    'transcriptions_ready',
    "(workspace_id, created_at, id) where status = 'queued' and probed_at is not null and lease_token is null",
    'transcriptions',
  ],
  [
    'transcriptions_ready_short',
    "(workspace_id, created_at, id) where status = 'queued' and probed_at is not null and lease_token is null and duration_seconds <= 600",
    'transcriptions',
  ],
  ['transcriptions_running', "(workspace_id, created_at, id) where status = 'processing'", 'transcriptions'],
  [
    'transcriptions_leftover',
    "(id) where media_key_sealed is not null and status in ('completed', 'failed', 'insufficient_balance')",
    'transcriptions',
  ],
  ['transcriptions_age', "(workspace_id, created_at) where status in ('completed', 'failed', 'insufficient_balance')", 'transcriptions'],
  ['transcriptions_key', '(key_id) where key_id is not null', 'transcriptions'],
  ['transcriptions_ended', '(workspace_id, completed_at) where completed_at is not null', 'transcriptions'],
  ['reports_template', '(template_id) where template_id is not null', 'reports'],
  ['reports_workspace', '(workspace_id)', 'reports'],
  ['reports_lease', '(lease_until) where lease_token is not null', 'reports'],
  ['reports_waiting', "(created_at, id) where status in ('queued', 'processing') and lease_token is null", 'reports'],
  ['segments_workspace', '(workspace_id)', 'segments'],
  ['checkpoints_workspace', '(workspace_id)', 'checkpoints'],
  ['notifications_transcription', '(transcription_id)', 'notifications'],
  ['notifications_workspace', '(workspace_id)', 'notifications'],
  ['notifications_created', '(created_at)', 'notifications'],
  ['deliveries_created', '(created_at)', 'deliveries'],
  ['deliveries_workspace', '(workspace_id)', 'deliveries'],
  ['deliveries_waiting', "(webhook_id, created_at) where status = 'pending'", 'deliveries'],
  ['webhooks_workspace', '(workspace_id, created_at)', 'webhooks'],
  ['api_keys_member', '(member_id)', 'api_keys'],
  ['project_members_workspace', '(workspace_id)', 'project_members'],
  ['templates_owner', '(owner_id) where owner_id is not null', 'templates'],
  ['previews_workspace', '(workspace_id)', 'previews'],
  ['previews_transcription', '(transcription_id) where transcription_id is not null', 'previews'],
  ['previews_created', '(created_at)', 'previews'],
  ['sessions_workspace', '(workspace_id)', 'sessions'],
  ['sessions_member', '(member_id)', 'sessions'],
  ['sessions_key', '(key_id) where key_id is not null', 'sessions'],
  ['sessions_expiry', '(expires_at)', 'sessions'],
  ['sign_in_links_workspace', '(workspace_id)', 'sign_in_links'],
  ['sign_in_links_member', '(member_id)', 'sign_in_links'],
  ['sign_in_links_expiry', '(expires_at)', 'sign_in_links'],
  ['oauth_codes_client', '(client_id)', 'oauth_codes'],
  ['oauth_codes_workspace', '(workspace_id)', 'oauth_codes'],
  ['oauth_codes_member', '(member_id)', 'oauth_codes'],
  ['oauth_codes_expiry', '(expires_at)', 'oauth_codes'],
  ['oauth_tokens_client', '(client_id)', 'oauth_tokens'],
  ['oauth_tokens_workspace', '(workspace_id)', 'oauth_tokens'],
  ['oauth_tokens_member', '(member_id)', 'oauth_tokens'],
  ['oauth_tokens_expiry', '(expires_at)', 'oauth_tokens'],
  ['upload_leases_until', '(lease_until)', 'upload_leases'],
  ['idempotency_keys_flying', '(lease_until) where answer is null', 'idempotency_keys'],
  ['idempotency_keys_expiry', '(expires_at) where answer is not null', 'idempotency_keys'],
  ['counters_day', '(day)', 'counters'],
  ['rates_refilled', '(refilled_at)', 'rates'],
  ['deletions_at', '(at)', 'deletions'],
  ['members_workspace', '(workspace_id)', 'members'],
  ['members_address', "(lower(email)) where status = 'active'", 'members'],
  ['templates_workspace', '(workspace_id)', 'templates'],
];

/**
 * Indexes for every periodic and hot condition and every foreign key. Built concurrently: outside a transaction, without blocking writers.
 */
export class Migration021 extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('set lock_timeout = 0'); // it waits for old transactions, and blocks nobody
    for (const [name, definition, table] of INDEXES) {
      this.addSql(`drop index concurrently if exists ${name}`); // an interrupted attempt leaves an invalid index
      this.addSql(`create index concurrently ${name} on ${table} ${definition}`);
    }
    this.addSql('reset lock_timeout');
  }
}

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are parts of sources
import type { Change } from './change.ts';

const DECODING = ['test/engine/tasks/decoding.test.ts'];
const OPTIONS = ['test/engine/tasks/options.test.ts'];
const PROTOCOL = ['test/db/protocol.test.ts'];
const RETRY = ['test/api/conformance/part4-1-retry.test.ts'];
const POLICIES = ['test/db/postgres/policies.test.ts'];
const CLAIM = ['test/db/jobs/claim.test.ts'];
const SWEEP = ['test/db/jobs/sweep.test.ts'];
const CLOCK = ['test/db/jobs/clock.test.ts'];
const SWEEPER = ['test/engine/tasks/sweep.test.ts'];
const LEDGER = ['test/scripts/ledger.test.ts'];
const CHANGES = ['test/api/v1/changes.test.ts'];
const SLOTS = ['test/db/upload-slots.test.ts'];

/** Options of uploads, queue, minutes, retention, back-off and policies. */
export const WORK: Change[] = [
  ['engine/tasks/transcribe.ts', 'return { language, diarize,', "return { language: 'auto', diarize,", OPTIONS],
  ['engine/tasks/transcribe.ts', 'return { language, diarize, speakers:', 'return { language, diarize: true, speakers:', OPTIONS],
  ['engine/tasks/transcribe.ts', 'speakers: diarize ? speakers : null', 'speakers: null', OPTIONS],
  ['engine/tasks/transcribe.ts', 'speakers : null, vocabulary, accurate', "speakers : null, vocabulary: '', accurate", OPTIONS],
  ['engine/tasks/transcribe.ts', 'accurate: engine.options.accurate', 'accurate: false', DECODING],
  ['engine/tasks/transcribe.ts', 'maxSeconds: engine.limits.MAX_DURATION_S', 'maxSeconds: 1e9', OPTIONS],
  [
    'engine/tasks/sealed.ts',
    'at < transcript.segments.length; at += BLOCK',
    'at < Math.min(BLOCK, transcript.segments.length); at += BLOCK',
  ],
  ['engine/asr/windows.ts', 'Math.max(...pieces.map((piece) => peak(speech, piece)))', 'peak(speech, pieces[0]!)'],
  ['engine/recognition.ts', 'return `recognised-${channel}-${start}-${end}`;', 'return `recognised-${start}-${end}`;'],
  ['db/spool/folder.ts', "join(root, '.trial')", 'join(root, `.trial-${performance.now()}`)'],
  ['db/jobs/leases.ts', '5 * 4 ** Math.max', '5 * 2 ** Math.max'],
  ['db/jobs/leases.ts', 'Math.min(600, 5 * 4', 'Math.min(60, 5 * 4'],
  ['db/jobs/leases.ts', 'attempt = greatest(0, attempt - ?::int)', 'attempt = greatest(0, attempt - 0 * ?::int)', SWEEP],
  [
    'db/jobs/claim.ts',
    "if (row)\n        await tx.rows(`update turns set served_at = clock_timestamp() where workspace_id = ?::uuid and lane = 'probe'`, [workspaceId]);",
    'if (row) void 0;',
    CLAIM,
  ],
  [
    'db/jobs/claim.ts',
    "await tx.rows(`update turns set served_at = clock_timestamp() where workspace_id = ?::uuid and lane <> 'probe'`, [workspaceId]);",
    '',
    CLAIM,
  ],
  ['db/jobs/claim.ts', "return shortOnly ? ['short'] : ['short', 'long'];", "return ['short', 'long'];", CLAIM],
  [
    'db/jobs/claim.ts',
    'where w.id = ?::uuid`,\n    [workspaceId],\n  );\n  if (!slots?.free) {',
    'where w.id = ?::uuid`,\n    [workspaceId],\n  );\n  if (false) {',
    CLAIM,
  ],
  [
    'db/jobs/sweep.ts',
    't.created_at < now() - least(w.retention_days, ?::int)',
    't.created_at < now() - greatest(w.retention_days, ?::int)',
    SWEEP,
  ],
  ['db/jobs/clock.ts', 'until: now() + RENEWAL', 'until: now()', CLOCK],
  ['db/jobs/clock.ts', "...['turns', 'report_turns', 'workspaces'].map(", "...['report_turns', 'workspaces'].map(", CLOCK],
  ['db/jobs/clock.ts', '(attempt * ${LEASE_SECONDS} + ', '(', CLOCK],
  ['db/jobs/clock.ts', 'SOURCE_HELD + LEEWAY', '100 * SOURCE_HELD', CLOCK],
  ['db/jobs/clock.ts', 'update spool_orphans set seen_at = clock_timestamp()', 'update spool_orphans set seen_at = seen_at', CLOCK],
  ['db/jobs/clock.ts', 'now() < held.until ? held.offset : known!', 'known!', CLOCK],
  ['db/jobs/clock.ts', 'Math.min(held.offset, known)', 'held.offset', CLOCK],
  [
    'db/reports/request.ts',
    'l.lease_until < least(clock_timestamp(), to_timestamp(?::float8))',
    'l.lease_until < greatest(clock_timestamp(), to_timestamp(?::float8))',
    SLOTS,
  ],
  [
    'db/uploads/accept.ts',
    'lease_until < least(now(), to_timestamp(?::float8))',
    'lease_until < greatest(now(), to_timestamp(?::float8))',
    SLOTS,
  ],
  [
    'db/uploads/idempotency.ts',
    'least(clock_timestamp(), to_timestamp(?::float8))',
    'greatest(clock_timestamp(), to_timestamp(?::float8))',
    SLOTS,
  ],
  ['api/upload/upload.ts', 'context.limits, context.clock.latest()', 'context.limits, null', ['test/crash/leap.test.ts']],
  ['api/upload/upload.ts', 'nodeId, clock.latest()', 'nodeId, null', ['test/crash/leap.test.ts']],
  ['db/jobs/sweep.ts', 'const poison = deaths + 1 >= LEASE.engineDeaths;', 'const poison = deaths >= LEASE.engineDeaths;', SWEEP],
  ['engine/tasks/sweep.ts', 'for (const { id } of failed) stuck.add(id);', '', ['test/engine/tasks/sweep.test.ts']],
  ['db/jobs/sweep.ts', "row.status in ('queued', 'processing')`", "row.status in ('processing')`", SWEEP],
  [
    'db/jobs/complete.ts',
    "if (!(await hold(tx, lease))) return 'lost';\n    const shortfall = await reserve(tx, lease.workspaceId, lease.id, result.",
    'const shortfall = await reserve(tx, lease.workspaceId, lease.id, result.',
    PROTOCOL,
  ],
  ['db/jobs/complete.ts', 'await charge(tx, lease.workspaceId, lease.id, result.durationSeconds);', '', CLAIM],
  [
    'db/minutes/balance.ts',
    'where r.workspace_id = w.id and r.transcription_id <> ?::uuid), 0)',
    'where r.workspace_id = w.id and r.transcription_id = ?::uuid), 0)',
    CLAIM,
  ],
  ['db/minutes/balance.ts', 'greatest(reservations.minutes, excluded.minutes)', 'least(reservations.minutes, excluded.minutes)', CLAIM],
  ['db/minutes/balance.ts', 'where room.minutes >= need.minutes', '', CLAIM],
  [
    'db/minutes/balance.ts',
    'released as (delete from reservations r where r.workspace_id = ?::uuid and r.transcription_id = ?::uuid)',
    'released as (delete from reservations r where r.workspace_id = ?::uuid and r.transcription_id = ?::uuid and false)',
    CLAIM,
  ],
  ['db/uploads/idempotency.ts', "clock_timestamp() + ? * interval '1 hour'", "clock_timestamp() + ? * interval '2 hours'", RETRY],
  ['db/uploads/idempotency.ts', 'if (held?.answer) return', 'if (false) return', RETRY],
  [
    'db/uploads/idempotency.ts',
    "i.key = ? and i.token = ?::uuid and i.answer is null', [",
    "i.key = ? and i.answer is null and ?::uuid is not null', [",
    RETRY,
  ],
  ['db/webhooks/outbox.ts', 'const HELD = 120;', 'const HELD = 0;'],
  ['db/webhooks/outbox.ts', 'wait ?? 0, turn.position)', 'wait ?? 0)', ['test/db/webhooks/turns.test.ts']],
  ['db/webhooks/outbox.ts', '0, COUNTED + turn)', '0, turn)', ['test/db/webhooks/turns.test.ts']],
  ['db/webhooks/outbox.ts', 'if (active) await enqueueDelivery(tx, id, 0,', 'await enqueueDelivery(tx, id, 0,'],
  ['db/webhooks/outbox.ts', 'if (active) await enqueueDelivery(tx, id, seconds,', 'await enqueueDelivery(tx, id, seconds,'],
  ['db/webhooks/outbox.ts', '(array[${WAITS}])[d.attempt]', '(array[${WAITS}])[d.attempt + 1]'],
  ['db/webhooks/outbox.ts', "outcome.ok ? 'delivered' : wait === undefined ? 'dead' : 'pending'", "outcome.ok ? 'delivered' : 'pending'"],
  ['db/webhooks/outbox.ts', 'const wait = WAITS[delivery.attempt - 1];', 'const wait = WAITS[delivery.attempt];'],
  [
    'db/postgres/migrations/002_row_level_security.ts',
    "using ((select current_setting(''longhand.workspace'', true)) = ''*''",
    'using (true',
    POLICIES,
  ],
  ['db/postgres/migrations/014_audit_log.ts', "using ((select current_setting('longhand.workspace', true)) = '*'", 'using (true', POLICIES],
  [
    'db/postgres/migrations/005_list_changes.ts',
    "using ((select current_setting('longhand.workspace', true)) = '*'",
    'using (true',
    POLICIES,
  ],
  ['db/postgres/migrations/004_previews.ts', "using ((select current_setting('longhand.workspace', true)) = '*'", 'using (true', POLICIES],
  ['engine/tasks/sweep.ts', 'if (engine.trouble.reason) return 0; // as for orphans\n  let removed', 'let removed', SWEEPER],
  ['engine/tasks/sweep.ts', 'if (engine.trouble.reason) return 0; // as for orphans\n  for', 'for', SWEEPER],
  ['db/jobs/orphans.ts', 'order by o.looked_at limit', 'limit', SWEEPER],
  ['db/jobs/orphans.ts', 'then seen_at else now() end', 'then seen_at else seen_at end', SWEEPER],
  [
    'db/jobs/sweep.ts',
    "and t.status in ('completed', 'failed', 'insufficient_balance')\n           and t.created_at",
    'and t.created_at',
    SWEEP,
  ],
  ['db/jobs/sweep.ts', "if (ids.length) await tx.rows('delete from idem", "if (!ids) await tx.rows('delete from idem", SWEEP],
  ['db/jobs/sweep.ts', 't.media_until is null and t.status', 't.status', SWEEP],
  ['db/jobs/clock.ts', 'media_until = clock_timestamp() + (media_until - completed_at)', 'media_until = media_until', CLOCK],
  ['db/search/blocks.ts', 'signal?.aborted ?? false', 'false'],
  ['scripts/commands/ledger.ts', "${torn ? '\\n' : ''}", '', LEDGER],
  ['scripts/commands/ledger.ts', ', { end: size - 1 }', '', LEDGER],
  ['scripts/commands/home.ts', 'if (text === null || !dead) return;', 'if (text === null) return;', ['test/scripts/home.test.ts']],
  ['db/search/blocks.ts', 'rows.length < sources.length || ', ''],
  ['db/search/keep.ts', 'and w.due_at = ?::timestamptz for', 'and ?::timestamptz is not null for'],
  ['db/jobs/sweep.ts', 'is not null order by random()) w', 'is not null) w', SWEEPER],
  ['engine/tasks/sweep.ts', 'if (!gone.length) break;\n    expired', 'if (expired || !gone.length) break;\n    expired', SWEEPER],
  ['db/postgres/each.ts', 'catch((error: unknown) => void failures.push(error))', 'then()', SWEEP],
  ['db/transcripts/changes.ts', 'each < changedIn', 'false', CHANGES],
  ['db/transcripts/changes.ts', 'places.push(from);', '{}', CHANGES],
  ['db/transcripts/changes.ts', 'if (changedIn >= next) continue;', '', CHANGES],
  ['engine/tasks/queue.ts', 'for (const worker of working) worker.nudge();', '', ['test/engine/tasks/queue.test.ts']],
  ['engine/tasks/faults.ts', ' || code === NO_KEY', '', ['test/engine/tasks/probe.test.ts']],
  ['engine/courier/report.ts', 'error?.code === NO_KEY', 'false', ['test/engine/courier/reports.test.ts']],
  ['engine/tasks/probe.ts', 'claim.hinderedSeconds < HOST_PATIENCE', 'claim.hinderedSeconds <= 0', ['test/engine/tasks/probe.test.ts']],
  ['engine/tasks/layer.ts', '    attended = now;\n', '', ['test/engine/tasks/layer.test.ts']],
  ['engine/courier/layer.ts', 'unwanted.signal, stopping, ', 'unwanted.signal, ', ['test/engine/courier/writing.test.ts']],
  ['scripts/commands/uploading.ts', '!ledger.knows(service, id) && ', '', ['test/scripts/upload.test.ts']],
];

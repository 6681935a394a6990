import type { Change } from './change.ts';

const CORRECTIONS = ['test/api/console/corrections.test.ts'];
const CORRECTING = ['test/api/console/correcting.test.ts'];
const LISTENING = ['test/api/console/listening.test.ts'];
const PAGES = ['test/api/console/pages.test.ts'];
const TYPING = ['test/api/console/typing.test.ts'];
const RENEWAL = ['test/api/console/renewal.test.ts'];
const FINDING = ['test/api/console/finding.test.ts'];
const WORKSPACE = ['test/api/console/workspace.test.ts'];
const RECORDING = ['test/api/v1/recording.test.ts'];
const DOCUMENTS = ['test/api/export/documents.test.ts'];

/** Listening, correcting, kept recordings, exports and the console's pages. */
export const PEOPLE: Change[] = [
  ['db/jobs/kept.ts', 't.media_until <= now()', "t.media_until <= now() - interval '1 day'", RECORDING],
  ['db/jobs/kept.ts', 'now() - least(w.keep_recordings_days', 'now() - greatest(w.keep_recordings_days', RECORDING],
  ['db/transcripts/recording.ts', '> clock_timestamp()', "> clock_timestamp() - interval '1 hour'", RECORDING],
  ['api/v1/recording.ts', 'condition === etag', 'condition !== etag', RECORDING],
  ['api/http/byte-range.ts', 'bytes - Number(last)', 'bytes - 1', RECORDING],
  ['db/transcripts/corrections.ts', 'one.version > since', 'one.version > since + 1', CORRECTIONS],
  ['db/transcripts/corrections.ts', 'Math.min(version + 1, undo ??', 'Math.min(version + 2, undo ??', CORRECTIONS],
  ['db/transcripts/corrections.ts', 'order by c.version desc limit ?', 'order by c.version limit ?'],
  ['db/transcripts/corrections.ts', 'a.version - b.version', 'b.version - a.version', CORRECTIONS],
  ['db/transcripts/correct.ts', 'places: [`text', "places: ['text', `text", CORRECTIONS],
  ['db/postgres/expressions.ts', "greatest(clock_timestamp(), t.updated_at + interval '1 microsecond')", 't.updated_at', CORRECTIONS],
  ['api/console/routes/corrections.ts', 'title: title || null', 'title', CORRECTIONS],
  ['db/transcripts/retime.ts', 'pieces.length === replaced.length', 'pieces.length !== replaced.length'],
  ['db/transcripts/retime.ts', "? ' ' : ''", "? '' : ''"],
  ['api/console/app/use.ts', "if (changed && value.status === 'completed') seen = null;", '', CORRECTING],
  ['api/console/app/use.ts', 'if (replaced.current !== before) return next((n) => n + 1);', '', CORRECTING],
  ['api/console/app/use.ts', 'useLayoutEffect(() => nav', 'useEffect(() => nav', PAGES],
  ['api/console/app/use.ts', 'before.from === path ? before.value : null', 'before.value', ['test/api/console/list.test.ts']],
  ['api/console/app/app.tsx', '<Fragment key={session.member.id}>', '<Fragment>', RENEWAL],
  ['api/console/app/app.tsx', 'useEffect(uploads.resume, [uploads, session, over]);', '', RENEWAL],
  ['api/console/app/client.ts', '!used || used !== csrf', '!used', RENEWAL],
  [
    'api/console/app/uploading.ts',
    'isSignedIn(member) ? waiting.slice(0, AT_ONCE - running) : []',
    'waiting.slice(0, AT_ONCE - running)',
    RENEWAL,
  ],
  ['api/console/app/uploading.ts', '() => isSignedIn(member) && uploads', '() => uploads', RENEWAL],
  ['api/console/app/show.ts', 'of! + 1', 'of!', WORKSPACE],
  ['api/console/app/finding.ts', 'count === most', 'count > 0', FINDING],
  ['api/console/app/finding.ts', 'from < last[1]', 'from > last[1]', FINDING],
  ['api/console/app/pages/list.tsx', "known.join(' ')", '0', PAGES],
  ['api/console/app/pages/list.tsx', 'offset > last', 'false', ['test/api/console/list.test.ts']],
  ['api/console/app/use.ts', 'number < requests.current.shown', 'number < requests.current.made', TYPING],
  ['api/console/app/parts/basics.tsx', '=== JSON.stringify(sent)', '!== null', TYPING],
  ['api/console/app/parts/filters.tsx', 'typed && !value ?', 'false ?', TYPING],
  ['api/console/app/parts/title.tsx', 'if (title === record.title) return close(false);', '', CORRECTING],
  ['api/console/app/parts/editor.tsx', 'save(other.version)', 'save(version)', CORRECTING],
  ['api/console/app/parts/turns.tsx', "!target.querySelector('.turn-editor')", 'true', CORRECTING],
  ['api/console/app/playing.ts', '<= seconds) low', '< seconds) low', LISTENING],
  ['api/console/app/playing.ts', 'Math.max(2, wanted / 100)', 'Math.max(2, wanted / 25)', LISTENING],
  ['api/console/app/parts/words.tsx', 'last > from', 'last >= from', LISTENING],
  ['api/console/app/parts/player.tsx', 'currentTime - STEP', 'currentTime + STEP', LISTENING],
  ['api/console/app/parts/player.tsx', 'playing && following', 'playing', LISTENING],
  ['api/console/app/parts/player.tsx', ' || event.altKey', '', LISTENING],
  ['api/console/app/parts/lanes.tsx', 'colour(segment) % lanes', '0', LISTENING],
  ['api/console/app/checklist.ts', "mark === '✓'", "mark !== '✗'", ['test/api/console/reports.test.ts']],
  ['api/export/documents/content.ts', "status === 'completed'", "status !== 'failed'", DOCUMENTS],
  ['api/export/documents/content.ts', 'index > 0 && !times &&', 'index > 0 &&', DOCUMENTS],
];

import { Migration001 } from './001_initial.ts';
import { Migration002 } from './002_row_level_security.ts';
import { Migration003 } from './003_session_keys.ts';
import { Migration004 } from './004_previews.ts';
import { Migration005 } from './005_list_changes.ts';
import { Migration006 } from './006_report_turns.ts';
import { Migration007 } from './007_engine_trouble.ts';
import { Migration010 } from './010_upload_actors.ts';
import { Migration011 } from './011_credentials.ts';
import { Migration012 } from './012_invitations.ts';
import { Migration013 } from './013_operators.ts';
import { Migration014 } from './014_audit_log.ts';
import { Migration015 } from './015_usage.ts';
import { Migration020 } from './020_turns_and_leases.ts';
import { Migration021 } from './021_indexes.ts';
import { Migration022 } from './022_lease_rows.ts';
import { Migration023 } from './023_late_sweep.ts';
import { Migration050 } from './050_search.ts';
import { Migration051, Migration052 } from './051_changes.ts';
import { Migration053 } from './053_webhook_events.ts';
import { Migration054 } from './054_upload_vocabulary.ts';
import { Migration060 } from './060_uncovered_speech.ts';
import { Migration066 } from './066_metrics.ts';
import { Migration067 } from './067_courier.ts';
import { Migration070 } from './070_report_history.ts';
import { Migration071 } from './071_corrections.ts';

/** In order; numbers are never reused and a released migration never changes. */
export const MIGRATIONS = [
  { name: '001_initial', class: Migration001 },
  { name: '002_row_level_security', class: Migration002 },
  { name: '003_session_keys', class: Migration003 },
  { name: '004_previews', class: Migration004 },
  { name: '005_list_changes', class: Migration005 },
  { name: '006_report_turns', class: Migration006 },
  { name: '007_engine_trouble', class: Migration007 },
  { name: '010_upload_actors', class: Migration010 },
  { name: '011_credentials', class: Migration011 },
  { name: '012_invitations', class: Migration012 },
  { name: '013_operators', class: Migration013 },
  { name: '014_audit_log', class: Migration014 },
  { name: '015_usage', class: Migration015 },
  { name: '020_turns_and_leases', class: Migration020 },
  { name: '021_indexes', class: Migration021 },
  { name: '022_lease_rows', class: Migration022 },
  { name: '023_late_sweep', class: Migration023 },
  { name: '050_search', class: Migration050 },
  { name: '051_changes', class: Migration051 },
  { name: '052_change_indexes', class: Migration052 },
  { name: '053_webhook_events', class: Migration053 },
  { name: '054_upload_vocabulary', class: Migration054 },
  { name: '060_uncovered_speech', class: Migration060 },
  { name: '066_metrics', class: Migration066 },
  { name: '067_courier', class: Migration067 },
  { name: '070_report_history', class: Migration070 },
  { name: '071_corrections', class: Migration071 },
];

/** Example responses for the API reference. */
const ID = '3f1c8a52-7d0e-4b7a-9c56-2f6f3f1b8d10';
const AUTHOR = { id: 'b5a7a0b8-0a2f-4d6f-8c0e-5a7b1f0f9d21', email: 'anna@example.com', name: 'Anna' };
const PROJECT = { id: '0d5f6f3e-52a5-4f0c-8a8d-1f6a3c9b7e44', name: 'Sales calls' };
const REPORT = 'c9a3e5d1-6b8f-4a2e-9f70-8d1b2c3e4f55';
const MADE = '2026-01-15T09:30:00.000Z';
const DONE = '2026-01-15T09:30:41.250Z';

/** Fields common to a list item and a full record, in their order. */
const NAMED = { id: ID, title: 'Call with Acme.mp3' };
const FACTS = {
  summary: null,
  language: 'en',
  duration_seconds: 12.48,
  media_type: 'audio',
  project: PROJECT,
  author: AUTHOR,
  speakers: [
    { id: 'speaker_1', name: 'Speaker 1' },
    { id: 'speaker_2', name: 'Speaker 2' },
  ],
  topics: null,
};
const GIVEN = { external_id: 'deal-1042', metadata: { deal: 1042, source: 'crm' } };
const TIMES = { created_at: MADE, updated_at: DONE };

export const ITEM_EXAMPLE = { ...NAMED, ...FACTS, ...GIVEN, ...TIMES };

export const RECORD_EXAMPLE = {
  ...NAMED,
  status: 'completed',
  ...FACTS,
  text: '[00:00] Speaker 1: Hello, this is Anna.\n[00:05] Speaker 2: Hi Anna.',
  segments: [
    { id: 1, start: 0.32, end: 4.1, speaker_id: 'speaker_1', speaker_name: null, text: 'Hello, this is Anna.' },
    { id: 2, start: 5.02, end: 12.2, speaker_id: 'speaker_2', speaker_name: null, text: 'Hi Anna.' },
  ],
  prompt_results: [
    {
      id: REPORT,
      slug: 'summary',
      name: 'Summary',
      status: 'completed',
      error_code: null,
      text: 'Anna called Acme.',
      created_at: MADE,
      completed_at: DONE,
    },
  ],
  ...GIVEN,
  error_code: null,
  required_minutes: null,
  available_minutes: null,
  ...TIMES,
};

export const TICKETS_EXAMPLE = { reports: [{ id: REPORT, slug: 'summary', status: 'queued' }] };

export const TEMPLATES_EXAMPLE = {
  prompts: [
    { slug: 'summary', name: 'Summary', kind: 'builtin', scope: null, description: 'General' },
    { slug: 'call-review', name: 'Call review', kind: 'custom', scope: 'workspace', description: null },
  ],
};

export const PROJECTS_EXAMPLE = { items: [{ ...PROJECT, created_at: MADE }], total: 1 };

export const MEMBERS_EXAMPLE = {
  items: [{ ...AUTHOR, role: 'owner', identities: [{ provider: 'telephony', external_id: '+15550100' }] }],
  total: 1,
};

export const WEBHOOK_EXAMPLE = {
  id: '5a1f0c9e-3b7d-4c2a-8e6f-9d0c1b2a3e4f',
  url: 'https://example.com/longhand',
  events: ['transcription.completed', 'transcription.failed'],
  active: true,
  created_at: MADE,
};
export const WEBHOOK_SECRET_EXAMPLE = { ...WEBHOOK_EXAMPLE, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };
export const TEST_EXAMPLE = { delivery_id: 'e2b7c1d0-6f5a-4e3b-9c8d-7a6b5c4d3e2f' };

export const WORKSPACE_EXAMPLE = {
  workspace: { id: '7e2d1c0b-9a8f-4e6d-b5c4-a3f2e1d0c9b8', name: 'Acme' },
  balance: { available_minutes: 5321.75 },
  limits: { max_file_size_mb: 2048, concurrency: 4, max_duration_hours: 10, reports_per_upload: 3, reports_per_day: 300 },
  key: { scopes: ['read', 'uploads:write'], expires_at: null },
};

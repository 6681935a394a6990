/** Types of the API's records. */
export interface Segment {
  id: number;
  start: number | null;
  end: number | null;
  speaker_id: string | null;
  speaker_name: string | null;
  text: string;
  words?: { start: number; end: number; text: string }[];
}

export interface Report {
  id: string;
  slug: string | null;
  name: string | null;
  status: 'queued' | 'processing' | 'completed' | 'failed';
  error_code: string | null;
  text: string | null;
}

export interface Item {
  id: string;
  title: string | null;
  summary: string | null;
  language: string | null;
  duration_seconds: number | null;
  media_type: 'audio' | 'video' | null;
  project: { id: string; name: string } | null;
  author: { id: string; email: string; name: string | null };
  speakers: { id: string; name: string }[];
  topics: { title: string }[] | null;
  external_id: string | null;
  metadata: Record<string, unknown> | null;
  created_at: string;
  updated_at: string;
}

/** A row of the list. */
export interface Row extends Item {
  status: Status;
  error_code: string | null;
  opening: string | null;
  progress: { stage: string; fraction: number } | null;
  seconds_left: number | null;
  hits: { segment: number; start: number; speaker_id: string | null; text: string }[];
}

export type Status = 'queued' | 'processing' | 'completed' | 'failed' | 'insufficient_balance';

export interface Transcription extends Item {
  status: Status;
  text: string | null;
  segments: Segment[];
  prompt_results: Report[];
  error_code: string | null;
  required_minutes: number | null;
  available_minutes: number | null;
  progress?: { stage: string; fraction: number };
}

export interface Page<T> {
  items: T[];
  total: number;
  limit: number;
  offset: number;
}

export interface Template {
  slug: string;
  name: string;
  kind: 'builtin' | 'custom';
  scope: string | null;
  description: string | null;
}

export interface Member {
  id: string;
  email: string;
  name: string | null;
  role: 'owner' | 'user';
  identities: { provider: string; external_id: string }[];
}

export interface Project {
  id: string;
  name: string;
  created_at: string;
}

export interface WorkspaceInfo {
  workspace: { id: string; name: string };
  balance: { available_minutes: number };
  limits: Record<string, number>;
}

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Seeded } from '../support/seeded.ts';

/** A recording that clients upload, and how it must end. */
export interface Recording {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
  ends: 'completed' | 'failed';
}

/** An upload that was accepted. */
export interface Accepted {
  id: string;
  recording: Recording;
  /** Deleted by its client after it had ended. */
  deleted: boolean;
}

/** Results of all clients. */
export interface Load {
  accepted: Accepted[];
  /** Number of responses by status, and of requests without one as 0. */
  statuses: Map<number, number>;
  /** Responses that must never occur. */
  violations: string[];
}

const TIMEOUT_MS = 60_000;
const REFUSED_FOR_A_WHILE = [0, 409, 429, 502, 503, 504, 507]; // 0: no response
const TERMINAL = /^(completed|failed|insufficient_balance)$/;

interface Target {
  url: string;
  key: string;
}

/** One integrator: uploads until it is accepted, polls, reads, and deletes now and then, until `until`. Its last upload is accepted in any case. */
export async function integrate(
  target: Target,
  recordings: readonly Recording[],
  chance: Seeded,
  until: number,
  load: Load,
): Promise<void> {
  while (Date.now() < until) {
    const accepted = await upload(target, chance.pick(recordings)!, load);
    if (!accepted) continue;
    const record = await ended(target, accepted.id, until, load);
    if (record && chance.random() < 0.3) await remove(target, accepted, load);
  }
}

/** Sends a recording under one idempotency key until a host accepts it. Null if it is rejected permanently, which is a violation. */
async function upload(target: Target, recording: Recording, load: Load): Promise<Accepted | null> {
  const headers = { 'Idempotency-Key': randomUUID(), 'Content-Disposition': `attachment; filename="${recording.name}"` };
  for (;;) {
    const { status, body } = await ask(target, 'POST', '', load, { headers, body: recording.bytes });
    if (status === 201 || status === 200) {
      const accepted = { id: body.uuid as string, recording, deleted: false };
      load.accepted.push(accepted);
      return accepted;
    }
    if (!REFUSED_FOR_A_WHILE.includes(status)) {
      load.violations.push(`POST ${recording.name}: ${status} ${JSON.stringify(body)}`);
      return null;
    }
    await sleep(1000);
  }
}

/** The record once it has ended; null if it has not by `until`. */
async function ended(target: Target, id: string, until: number, load: Load): Promise<Record<string, unknown> | null> {
  while (Date.now() < until) {
    const { status, body } = await ask(target, 'GET', `/${id}`, load);
    if (status === 404) load.violations.push(`GET ${id}: an accepted upload is unknown`);
    if (status === 200 && TERMINAL.test(body.status as string)) return body;
    await sleep(1000);
  }
  return null;
}

async function remove(target: Target, accepted: Accepted, load: Load): Promise<void> {
  for (;;) {
    const { status } = await ask(target, 'DELETE', `/${accepted.id}`, load);
    accepted.deleted = status === 204 || status === 404; // 404: an earlier request whose response was lost
    if (accepted.deleted) return;
    await sleep(1000);
  }
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** One request; status 0 if no response arrived in time. Responses that the API must never give are violations. */
async function ask({ url, key }: Target, method: string, path: string, load: Load, options: RequestInit = {}): Promise<Answer> {
  const at = `/v1/transcriptions${path}`;
  const answer = await fetch(url + at, {
    method,
    ...options,
    headers: { Authorization: `Bearer ${key}`, ...options.headers },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
    .then(async (response) => {
      const text = await response.text();
      return { status: response.status, body: jsonOf(text) };
    })
    .catch(() => ({ status: 0, body: {} }));
  load.statuses.set(answer.status, (load.statuses.get(answer.status) ?? 0) + 1);
  if (answer.status === 500) load.violations.push(`${method} ${at}: ${JSON.stringify(answer.body)}`);
  return answer;
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

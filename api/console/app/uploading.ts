import { expire, headers, isSignedIn } from './client.ts';

export interface Upload {
  /** Its Idempotency-Key: repeated uploads never create a second transcription. */
  key: string;
  file: File;
  /** Query parameters of the request. */
  query: string;
  /** 0 to 1. */
  sent: number;
  /** When its bytes began to be sent, ms of `performance.now`. */
  since: number;
  /** Of the transcription, once it exists. */
  id: string | null;
  state: 'waiting' | 'sending' | 'done' | 'failed';
  problem: string | null;
}

/**
 * Uploads of one member on this page: a few at a time, retried automatically where that can help, else on request. Without a session of this
 * member none begins: they wait.
 */
export interface UploadQueue {
  all(): readonly Upload[];
  add(files: Iterable<File>, query: string): void;
  /** Retries failed uploads. */
  again(keys: readonly string[]): void;
  hide(key: string): void;
  /** Begins what waits, once the member has signed in again. */
  resume(): void;
  /** Forgets all uploads; those in progress are not retried. */
  drop(): void;
  /** Calls back after every change; `done`: a file has been uploaded. Returns a function that unsubscribes. */
  watch(told: (done: boolean) => void): () => void;
}

const AT_ONCE = 2;
const TRIES = 4;
const LONGEST_WAIT_S = 60;

export function createQueue(member: string): UploadQueue {
  let uploads: readonly Upload[] = [];
  let running = 0;
  const watchers = new Set<(done: boolean) => void>();
  const tell = (done: boolean) => {
    for (const told of watchers) told(done);
  };
  const change = (key: string, part: Partial<Upload>) => {
    uploads = uploads.map((one) => (one.key === key ? { ...one, ...part } : one));
    tell(part.state === 'done');
  };
  const step = () => {
    const waiting = uploads.filter(({ state }) => state === 'waiting');
    for (const next of isSignedIn(member) ? waiting.slice(0, AT_ONCE - running) : []) {
      running += 1;
      change(next.key, { state: 'sending', sent: 0, since: performance.now(), problem: null });
      const wanted = () => isSignedIn(member) && uploads.some(({ key }) => key === next.key);
      persist(next, wanted, (part) => change(next.key, part))
        .then((id) =>
          change(next.key, id === null ? { state: 'waiting', sent: 0, problem: null } : { state: 'done', sent: 1, id, problem: null }),
        )
        .catch((error: Error) => change(next.key, { state: 'failed', sent: 0, problem: error.message }))
        .finally(() => {
          running -= 1;
          step();
        });
    }
    window.onbeforeunload = running || waiting.length ? (event) => event.preventDefault() : null;
  };
  return {
    all: () => uploads,
    add(files, query) {
      const fresh = [...files].map(
        (file): Upload => ({
          ...{ key: newKey(), file, query, sent: 0, since: 0, id: null },
          ...{ state: 'waiting', problem: null },
        }),
      );
      uploads = [...fresh, ...uploads];
      tell(false);
      step();
    },
    again(keys) {
      for (const key of keys) change(key, { state: 'waiting', sent: 0, problem: null });
      step();
    },
    hide(key) {
      uploads = uploads.filter((one) => one.key !== key);
      tell(false);
      step();
    },
    resume: step,
    drop() {
      uploads = [];
      tell(false);
    },
    watch(told) {
      watchers.add(told);
      return () => watchers.delete(told);
    },
  };
}

/** 128 random bits; `randomUUID` is unavailable over plain http. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Sends a file, and retries after a lost connection, a full queue or a busy service. Returns the id of the transcription; null if the upload was
 * cancelled, or if the session has ended.
 */
async function persist(upload: Upload, wanted: () => boolean, told: (part: Partial<Upload>) => void): Promise<string | null> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await send(upload, (sent) => told({ sent }));
    if ('id' in outcome) return outcome.id;
    if ('ended' in outcome) return null;
    const { message, waitSeconds } = outcome;
    if (waitSeconds === null || waitSeconds > LONGEST_WAIT_S || attempt === TRIES) throw new Error(message);
    told({ problem: `${message} – trying again`, sent: 0, since: performance.now() });
    await new Promise((resolve) => setTimeout(resolve, Math.max(waitSeconds, 2 ** attempt) * 1000));
    if (!wanted()) return null;
  }
}

/**
 * One attempt, with XMLHttpRequest because fetch reports no upload progress. `waitSeconds` null: a retry would fail the same way.
 */
function send({ file, key, query }: Upload, progress: (fraction: number) => void) {
  const credentials = headers();
  return new Promise<{ id: string } | { ended: true } | { message: string; waitSeconds: number | null }>((resolve) => {
    const request = new XMLHttpRequest();
    request.open('POST', `/v1/app/transcriptions?${query}`);
    const name = encodeURIComponent(file.name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
    request.setRequestHeader('Content-Disposition', `attachment; filename*=UTF-8''${name}`);
    request.setRequestHeader('Idempotency-Key', key);
    for (const [header, value] of Object.entries(credentials)) request.setRequestHeader(header, value);
    request.upload.onprogress = (event) => progress(event.loaded / Math.max(1, event.total));
    request.onload = () => {
      if (request.status < 300) return resolve({ id: JSON.parse(request.responseText).uuid });
      if (request.status === 401) {
        expire(credentials['X-CSRF-Token']);
        return resolve({ ended: true });
      }
      const wait = Number(request.getResponseHeader('Retry-After'));
      let message = `The service returned ${request.status}`;
      try {
        message = JSON.parse(request.responseText).message ?? message;
      } catch {}
      resolve({ message, waitSeconds: wait || (request.status >= 500 || request.status === 408 ? 1 : null) });
    };
    request.onerror = () => resolve({ message: 'The connection was interrupted', waitSeconds: 1 });
    request.send(file);
  });
}

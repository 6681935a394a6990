import { useState } from 'preact/hooks';
import { headers } from '../client.ts';

interface Upload {
  key: string;
  file: File;
  sent: number;
  state: 'waiting' | 'sending' | 'done' | 'failed';
  problem: string | null;
}

const AT_ONCE = 2;

/** Files dropped or chosen, sent a few at a time; a failed one can be sent again and never becomes a second transcription. */
export function Uploads({ query, onDone }: { query: () => string; onDone: () => void }) {
  const [uploads, set] = useState<Upload[]>([]);
  const [over, setOver] = useState(false);
  const change = (key: string, part: Partial<Upload>) => set((all) => all.map((one) => (one.key === key ? { ...one, ...part } : one)));

  const start = async (upload: Upload) => {
    change(upload.key, { state: 'sending', sent: 0, problem: null });
    try {
      await send(upload.file, upload.key, query(), (sent) => change(upload.key, { sent }));
      change(upload.key, { state: 'done', sent: 1 });
      onDone();
    } catch (error) {
      change(upload.key, { state: 'failed', problem: (error as Error).message });
    }
  };
  const add = async (files: Iterable<File>) => {
    const fresh = [...files].map((file): Upload => ({ key: crypto.randomUUID(), file, sent: 0, state: 'waiting', problem: null }));
    set((all) => [...fresh, ...all]);
    const queue = [...fresh];
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let next = queue.shift(); next; next = queue.shift()) await start(next);
      }),
    );
  };

  return (
    <section aria-label="Upload">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a second way to the button inside */}
      <div
        class={`drop ${over ? 'over' : ''}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          add(event.dataTransfer?.files ?? []);
        }}
      >
        <label class="button main">
          Choose recordings
          <input
            type="file"
            multiple
            class="hidden"
            onChange={(event) => {
              const input = event.currentTarget as HTMLInputElement;
              add([...(input.files ?? [])]);
              input.value = '';
            }}
          />
        </label>
        <span class="quiet">
          or drop them here: audio or video, up to 2 GB and 10 hours. The recording is deleted once it is transcribed.
        </span>
      </div>
      {uploads.length > 0 && (
        <ul class="uploads" aria-live="polite">
          {uploads.map((upload) => (
            <li key={upload.key}>
              <span class="name">{upload.file.name}</span>
              <progress max={1} value={upload.sent} aria-label={`Upload of ${upload.file.name}`} />
              {upload.state === 'done' && <span class="good">uploaded</span>}
              {upload.state === 'failed' && (
                <>
                  <span class="bad">{upload.problem}</span>
                  <button type="button" class="small" onClick={() => start(upload)}>
                    Send again
                  </button>
                </>
              )}
              {upload.state !== 'sending' && (
                <button
                  type="button"
                  class="small"
                  aria-label={`Hide ${upload.file.name}`}
                  onClick={() => set((all) => all.filter((one) => one.key !== upload.key))}
                >
                  ×
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Sends the raw bytes; fetch cannot report how far an upload is. */
function send(file: File, key: string, query: string, progress: (fraction: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `/v1/app/transcriptions?${query}`);
    const name = encodeURIComponent(file.name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
    request.setRequestHeader('Content-Disposition', `attachment; filename*=UTF-8''${name}`);
    request.setRequestHeader('Idempotency-Key', key);
    for (const [header, value] of Object.entries(headers())) request.setRequestHeader(header, value);
    request.upload.onprogress = (event) => progress(event.loaded / Math.max(1, event.total));
    request.onload = () => {
      if (request.status < 300) return resolve();
      let message = `The service answered ${request.status}`;
      try {
        message = JSON.parse(request.responseText).message ?? message;
      } catch {}
      reject(new Error(message));
    };
    request.onerror = () => reject(new Error('The connection broke off; send it again'));
    request.send(file);
  });
}

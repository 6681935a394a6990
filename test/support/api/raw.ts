import net from 'node:net';

const PATIENCE_MS = 60_000; // by default, for a busy machine

/** One response as received over the wire. */
export interface RawAnswer {
  status: number;
  headers: Map<string, string>;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests access it freely
  json: any;
}

/** A plain TCP connection to the API: bytes are sent exactly as written, segment by segment. */
export interface RawConnection {
  write(data: string | Uint8Array): void;
  /** Resolves with the next complete response. Rejects if the connection closes first, or after `ms`. */
  answer(ms?: number): Promise<RawAnswer>;
  /** Resolves once the bytes received so far match. Rejects if the connection closes first, or after `ms`. */
  received(pattern: RegExp, ms?: number): Promise<string>;
  /** Resolves with everything received once the other side has closed. Rejects after `ms`. */
  closed(ms?: number): Promise<string>;
  /** Closes the connection; `reset` sends RST instead of FIN. */
  end(reset?: boolean): void;
}

export async function connectRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  socket.setNoDelay(true);
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let pending = Buffer.alloc(0);
  let all = '';
  let over = false;
  const waiting = new Set<() => void>();
  const changed = () => {
    for (const look of waiting) look();
  };
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    all += chunk.toString('latin1');
    changed();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    over = true;
    changed();
  });

  const until = <T>(look: () => T | undefined, ms: number, what: string) =>
    new Promise<T>((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer);
        waiting.delete(check);
        settle();
      };
      const timer = setTimeout(() => finish(() => reject(new Error(`${what} within ${ms} ms; received: ${all}`))), ms);
      const check = () => {
        const found = look();
        if (found !== undefined) finish(() => resolve(found));
        else if (over) finish(() => reject(new Error(`${what}: the connection was closed; received: ${all}`)));
      };
      waiting.add(check);
      check();
    });

  return {
    write: (data) => void socket.write(data),
    answer: (ms = PATIENCE_MS) =>
      until(
        () => {
          const found = parse(pending);
          if (found) pending = pending.subarray(found.length);
          return found?.answer;
        },
        ms,
        'no complete response',
      ),
    received: (pattern, ms = PATIENCE_MS) => until(() => (pattern.test(all) ? all : undefined), ms, `nothing like ${pattern}`),
    closed: (ms = PATIENCE_MS) => until(() => (over ? all : undefined), ms, 'not closed'),
    end: (reset = false) => void (reset ? socket.resetAndDestroy() : socket.end()),
  };
}

/** The first complete response in these bytes; 100 Continue is skipped. */
function parse(bytes: Buffer): { answer: RawAnswer; length: number } | null {
  const split = bytes.indexOf('\r\n\r\n');
  if (split < 0) return null;
  const [first, ...lines] = bytes.subarray(0, split).toString('latin1').split('\r\n');
  const status = Number(first!.split(' ')[1]);
  if (status === 100) {
    const next = parse(bytes.subarray(split + 4));
    return next && { answer: next.answer, length: next.length + split + 4 };
  }
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]));
  const length = Number(headers.get('content-length') ?? 0);
  const end = split + 4 + length;
  if (bytes.length < end) return null;
  const body = bytes.subarray(split + 4, end).toString();
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {}
  return { answer: { status, headers, body, json }, length: end };
}

/** Request line and headers, with the empty line at the end. */
export function head(method: string, path: string, headers: Record<string, string | number | undefined> | [string, string][]): string {
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers).filter(([, value]) => value !== undefined);
  return `${method} ${path} HTTP/1.1\r\nHost: test\r\n${pairs.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

import net from 'node:net';

export interface Polled {
  per_second: number;
  p50_ms: number;
  p99_ms: number;
  max_ms: number;
  failed: number;
  bytes: number;
}

/**
 * Many clients with one connection each that request one of `urls` in turn, at a fixed total rate: request n is due at n / rate, regardless
 * of responses. Latency is measured from the due time, so it shows when a server falls behind (no coordinated omission).
 */
export async function poll(
  urls: string | readonly string[],
  headers: Record<string, string>,
  connections: number,
  rate: number,
  seconds: number,
): Promise<Polled> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const requests = [urls].flat().map((url) => `GET ${new URL(url).pathname} HTTP/1.1\r\nHost: longhand\r\n${lines.join('')}\r\n`);
  const { hostname, port } = new URL([urls].flat()[0]!);
  const times: number[] = [];
  let [failed, bytes] = [0, 0];
  const clients = await Promise.all(
    Array.from({ length: connections }, () =>
      connect(hostname, Number(port), (due, ok, length) => {
        times.push(performance.now() - due);
        bytes += length;
        if (!ok) failed++;
      }),
    ),
  );
  const start = performance.now();
  const total = Math.ceil(rate * seconds);
  let sent = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      for (let due = start + (sent * 1000) / rate; sent < total && due <= performance.now(); due = start + (sent * 1000) / rate) {
        clients[sent % connections]!(requests[sent % requests.length]!, due);
        sent++;
      }
      if (times.length < total && performance.now() - start < (seconds + 10) * 1000) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
  const elapsed = (performance.now() - start) / 1000;
  for (const client of clients) client(null, 0);
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(10 * (times[Math.floor(share * (times.length - 1))] ?? Number.NaN)) / 10;
  return {
    ...{ per_second: Math.round(times.length / elapsed), p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1) },
    ...{ failed: failed + total - times.length, bytes: Math.round(bytes / Math.max(1, times.length)) },
  };
}

type Client = (request: string | null, due: number) => void;

/** One connection; requests are queued while one is unanswered. */
async function connect(host: string, port: number, answered: (due: number, ok: boolean, bytes: number) => void): Promise<Client> {
  const waiting: { request: string; due: number }[] = [];
  let socket: net.Socket;
  let head = Buffer.alloc(0);
  let missing = -1; // bytes of the body; -1 while reading the headers
  let [total, ok] = [0, false];
  const next = () => {
    if (waiting[0]) socket.write(waiting[0].request);
  };
  const take = (chunk: Buffer) => {
    if (missing < 0) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const text = head.subarray(0, end).toString('latin1');
      total = end + 4 + Number(/content-length: (\d+)/i.exec(text)![1]);
      ok = text.startsWith('HTTP/1.1 200');
      missing = total - head.length;
      head = Buffer.alloc(0);
    } else missing -= chunk.length;
    if (missing > 0) return;
    missing = -1;
    answered(waiting.shift()!.due, ok, total);
    next();
  };
  const open = () =>
    new Promise<void>((resolve, reject) => {
      socket = net.connect(port, host, resolve);
      socket.setNoDelay(true);
      socket.on('data', take);
      socket.once('error', reject);
    });
  await open();
  return (request, due) => {
    if (request === null) return void socket.destroy();
    waiting.push({ request, due });
    if (waiting.length === 1) next();
  };
}

import { once } from 'node:events';
import { createServer } from 'node:net';

const REASONS: Record<string, string> = {
  EADDRINUSE: 'it is in use. Choose another with --port or PORT, or stop the program that uses it',
  EACCES: 'this account may not use it. Choose one from 1024 with --port or PORT',
};

/** Throws if the port is taken: uWebSockets would silently share it with another Longhand, and either could get a request. */
export async function requirePort(host: string, port: number): Promise<void> {
  const server = createServer().listen({ host, port, exclusive: true });
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const why = REASONS[cause.code ?? ''] ?? `${cause.code}. Choose an address of this machine with --host or HOST`;
    throw new Error(`Cannot listen on ${host} port ${port}: ${why}.`, { cause });
  });
  server.close();
  await once(server, 'close');
}

import { once } from 'node:events';
import { createServer } from 'node:net';

const REASONS: Record<string, string> = {
  EADDRINUSE: 'it is in use. Choose another with --port or PORT, or stop what listens there',
  EACCES: 'this account may not use it. Choose one from 1024 with --port or PORT',
};

/** Throws when the port is taken: uWebSockets itself would share it with any other Longhand, and requests would go to either. */
export async function requirePort(host: string, port: number): Promise<void> {
  const server = createServer().listen({ host, port, exclusive: true });
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const why = REASONS[cause.code ?? ''] ?? `${cause.code}. Choose an address of this machine with --host or HOST`;
    throw new Error(`Cannot listen on ${host} port ${port}: ${why}.`, { cause });
  });
  server.close();
  await once(server, 'close');
}

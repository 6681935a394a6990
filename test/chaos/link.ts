import { createServer, connect as dial, type Server, type Socket } from 'node:net';

/** A network link between two parts: everything that one sends to the other passes through it. */
export interface Link {
  readonly port: number;
  /** Port of the part behind the link: it may change. */
  target: number;
  /** Resets every connection, and new ones, until `mend`. */
  cut(): void;
  /** Delivers nothing in either direction until `mend`: connections stay open, as when packets are lost. */
  stall(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Opens a link on a free port of this machine. */
export async function openLink(target: number): Promise<Link> {
  let state: 'up' | 'cut' | 'stalled' = 'up';
  const sockets = new Set<Socket>();
  const server: Server = createServer((near) => {
    if (state === 'cut') return reset(near);
    const far = dial(link.target, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => reset(other));
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroySoon(); // `end` leaves it half open until the other side ends it too
      });
      socket.on('data', (bytes) => {
        if (!other.write(bytes)) socket.pause();
      });
      other.on('drain', () => state !== 'stalled' && socket.resume());
      if (state === 'stalled') socket.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const link: Link = {
    port: (server.address() as { port: number }).port,
    target,
    cut() {
      state = 'cut';
      for (const socket of sockets) reset(socket);
    },
    stall() {
      state = 'stalled';
      for (const socket of sockets) socket.pause();
    },
    mend() {
      state = 'up';
      for (const socket of sockets) socket.resume();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return link;
}

/** Resets a connection. After the reset of one that is being ended, its descriptor stays open (Node 20.20), so it is destroyed. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

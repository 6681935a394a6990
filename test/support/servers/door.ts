import { connect, createServer, type Socket } from 'node:net';

export interface Door {
  port: number;
  close(): void;
}

/** A port that forwards to `target`, like a service name; while nothing listens there, connections are closed. */
export async function openDoor(target: () => number): Promise<Door> {
  const sockets = new Set<Socket>();
  const listener = createServer((inside) => {
    const outside = connect(target(), '127.0.0.1');
    for (const [from, to] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(from);
      from
        .on('error', () => to.destroy())
        .on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    port: (listener.address() as { port: number }).port,
    close() {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

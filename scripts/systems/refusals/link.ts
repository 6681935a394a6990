import net from 'node:net';

/**
 * A slow connection to a port of this machine: forwards at most `bytesPerSecond` from the client per connection, and closes or resets
 * connections when the other side does. Returns its port.
 */
export async function openLink(to: number, bytesPerSecond: number): Promise<{ port: number; close(): void }> {
  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    const target = net.connect({ port: to, host: '127.0.0.1', allowHalfOpen: true });
    client.on('data', (chunk) => {
      client.pause();
      if (!target.destroyed) target.write(chunk);
      setTimeout(() => client.resume(), (chunk.length * 1000) / bytesPerSecond);
    });
    client.on('end', () => target.end()).on('error', () => target.resetAndDestroy());
    target.pipe(client);
    target.on('error', () => client.resetAndDestroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as net.AddressInfo).port, close: () => void server.close() };
}

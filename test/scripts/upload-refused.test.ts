import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { openClient } from '../../scripts/commands/client.ts';
import { longhandHere } from '../support/processes/here.ts';
import { refuse, uploadService } from '../support/servers/upload-server.ts';

/** Environment with a ledger for this test file. */
const longhand = (args: readonly string[], env: Record<string, string> = {}) =>
  longhandHere(args, { XDG_STATE_HOME: path.join(folder, 'state'), ...env });
const folder = t.testdir({ 'a.wav': 'a'.repeat(200_000), 'notes.txt': 'no recording', deep: { 'Größe (1).mp3': 'b'.repeat(3000) } });

t.test('upload reports a response that is not from Longhand, such as a sign-in page', async (t) => {
  const page = async (request: IncomingMessage, response: ServerResponse) => {
    await buffer(request);
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
  };
  const { seen, url } = await uploadService(t, [page]);
  const { code, stderr } = await longhand(['upload', path.join(folder, 'a.wav'), '--url', url, '--key', 'k', '--wait']);
  t.equal(code, 1);
  t.match(stderr, /a\.wav: the server there is not Longhand: it responded with 200 without JSON/);
  t.equal(seen.length, 1);
});

t.test('upload says what is wrong with an address that is not that of the service', async (t) => {
  const elsewhere = (request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(301, { location: 'https://longhand.example/v1/' }).end();
    request.resume();
  };
  const { seen, url } = await uploadService(t, [elsewhere]);
  const upload = (address: string) => longhand(['upload', path.join(folder, 'a.wav'), '--url', address, '--key', 'k']);
  t.match(await upload(url), { code: 1, stderr: /the server there redirects to https:\/\/longhand\.example\/v1\/\. Check --url/ });
  const host = url.replace('http:', 'https:');
  t.match(await upload(host), {
    code: 1,
    stderr: `the server at ${host} does not use TLS: for plain HTTP the address begins with http://`,
  });
  t.equal(seen.length, 1, 'neither is tried again');
  const closed = createServer({}).listen(0, '127.0.0.1'); // without a certificate there is no connection; a wanted one of clients has the same effect
  t.teardown(() => closed.close());
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  t.match(await upload(`https://127.0.0.1:${port}`), { code: 1, stderr: /refuses the TLS connection \(sslv3 alert handshake failure\)/ });
});

t.test('upload tries again, under the same key, when the service does not respond or stops in its response', async (t) => {
  const silent = (request: IncomingMessage) => request.resume();
  const stopping = (request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(201, { 'content-length': 100 }).write('{');
    request.resume();
  };
  const { seen, url } = await uploadService(t, [silent, stopping]);
  const client = openClient(url, 'k', 1000);
  const file = path.join(folder, 'a.wav');
  t.match(await client.upload(file, 200_000, 'once', new URLSearchParams(), {}, () => {}), { status: 'queued' });
  t.ok(seen.length > 2, 'on a busy machine a response may come too late, too');
  t.ok(seen.every(({ key }) => key === 'once'));
});

t.test('upload does not retry permanent errors, and continues with the next file', async (t) => {
  const { seen, url } = await uploadService(t, [refuse(413, {}, { code: 'file_size_limit_exceeded', message: 'too large' })]);
  const { code, stdout, stderr } = await longhand(['upload', folder, '--url', url, '--key', 'k']);
  t.equal(code, 1);
  t.equal(seen.length, 2);
  t.match(stderr, /refused with 413 file_size_limit_exceeded: too large/);
  t.match(stdout, /queued/);
});

t.test('upload counts a file of a folder that was refused before like one that was sent before', async (t) => {
  const tooSmall = refuse(400, {}, { code: 'file_too_small', message: 'too small' });
  const { seen, url } = await uploadService(t, [tooSmall]);
  const spool = t.testdir({ 'a.wav': 'refused', 'b.wav': 'taken'.repeat(1000) });
  const upload = (...args: string[]) => longhand(['upload', ...args, '--url', url, '--key', 'k']);
  t.match(await upload(spool), { code: 1, stderr: /a\.wav: refused with 400 file_too_small: too small/, stdout: /queued/ });
  t.match(await upload(spool), {
    code: 0,
    stdout: '',
    stderr: /^1 uploaded before; .*\n1 refused before because of the file itself; --again tries them again\n$/,
  });
  t.equal(seen.length, 2);
});

t.test('upload of a named file that was refused before fails, because the service does not have it', async (t) => {
  const tooSmall = refuse(400, {}, { code: 'file_too_small', message: 'too small' });
  const { seen, url } = await uploadService(t, [tooSmall]);
  const spool = t.testdir({ 'a.wav': 'refused', 'b.wav': 'taken'.repeat(1001) });
  const upload = (...args: string[]) => longhand(['upload', ...args, '--url', url, '--key', 'k', '--ledger', path.join(spool, 'ledger')]);
  await upload(spool);
  const alone = path.join(spool, 'a.wav');
  const reason = /refused before: refused with 400 file_too_small: too small; --again tries it again/;
  t.match(await upload(alone), { code: 1, stdout: reason, stderr: reason });
  t.match(await upload(alone, '--wait'), { code: 1, stdout: '', stderr: reason });
  t.match(await upload(alone, '--json'), { code: 1, stderr: reason });
  t.match(await upload(alone, path.join(spool, 'b.wav')), { code: 1, stdout: reason, stderr: /1 uploaded before/ });
  t.match(await upload(spool, alone), { code: 1, stderr: /1 refused before because of the file itself/ });
  t.equal(seen.length, 2);
});

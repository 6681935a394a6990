import fc from 'fast-check';
import t from 'tap';
import { odd, openTarget, PATIENCE_MS, RUNS } from '../../support/api/fuzz.ts';
import { connectRaw } from '../../support/api/raw.ts';

const { api, always } = await openTarget(t);

t.test('bytes that are not a request are refused by the parser', async (t) => {
  const lines = fc.array(
    fc.oneof(
      fc.constantFrom(
        'GET / HTTP/1.1',
        'POST /v1/transcriptions HTTP/1.1',
        'Host: x',
        'Content-Length: 5',
        'Content-Length: -1',
        'Transfer-Encoding: chunked',
        ': x',
        'a b: c',
        '',
        'GET / HTTP/1.0',
        'PRI * HTTP/2.0',
      ),
      odd,
    ),
    { maxLength: 8 },
  );
  await always(
    t,
    lines,
    async (lines) => {
      const connection = await connectRaw(api.url);
      connection.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
      const answer = await connection.answer(150).catch(() => null); // an incomplete request gets no answer …
      connection.end();
      await connection.closed(PATIENCE_MS); // … and holds no resources: its connection closes with the sender
      if (answer && answer.status >= 500 && answer.status !== 505) throw new Error(`${answer.status} ${answer.body}`);
    },
    Math.ceil(RUNS / 3),
  );
});

const OLD = Number(process.versions.modules) < 127; // the parser for Node 20 waits for the rest of the head, those for Node 22 and newer refuse it

// More bytes do not extend the 10 s of uWebSockets (measured: 8 to 12).
t.test('a head that never ends takes no upload slot, and its connection is closed by the idle limit', async (t) => {
  const line = 'POST /v1/transcriptions HTTP/1.1\r\nHost: x\r\n';
  const refused = OLD ? /^$/ : /^HTTP\/1\.1 400 /;
  const heads: [text: string, answer: RegExp][] = [
    [`${line}X-A: a`, /^$/],
    [line, /^$/],
    ['', /^$/],
    [`${line}X-A: a\u0001b\r\n\r\n`, refused],
    [`${line}X-A: a\0b\r\n\r\n`, refused],
    [`${line}X\u0001: b\r\n\r\n`, refused],
    [`${line}X_A.'~: b\r\nConnection: close\r\n\r\n`, OLD ? /^$/ : /^HTTP\/1\.1 401 /], // good HTTP
  ];
  const connections = await Promise.all(heads.map(() => connectRaw(api.url)));
  for (const [i, connection] of connections.entries()) connection.write(Buffer.from(heads[i]![0], 'latin1'));
  const drip = setInterval(() => {
    for (const connection of [...connections.slice(0, 2), ...connections.slice(3)]) connection.write('y');
  }, 2_000);
  for (const [i, connection] of connections.entries()) t.match(await connection.closed(60_000), heads[i]![1], JSON.stringify(heads[i]![0]));
  clearInterval(drip);
  t.equal((await api.db.query('*', 'select 1 from upload_leases')).length, 0);
  t.match(await api.metrics(), /^longhand_uploads_receiving 0$/m);
});

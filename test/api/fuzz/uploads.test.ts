import fc from 'fast-check';
import t from 'tap';
import { encoded, headerValue, judge, odd, openTarget, RUNS, request } from '../../support/api/fuzz.ts';
import { FILE, uploadHeaders } from '../../support/api/uploads.ts';

const { key, bearer, exchange, always } = await openTarget(t);

t.test('uploads with hostile headers get well-formed refusals, or are stored and can be read', async (t) => {
  const field = (names: string[]) => fc.constantFrom(...names);
  const disposition = fc
    .oneof(
      odd.map((name) => `attachment; filename="${name}.mp3"`),
      encoded.map((name) => `attachment; filename*=UTF-8''${name}.mp3`),
      odd.map((name) => `${name}; filename=${name}`),
      odd,
    )
    .map((text) =>
      Buffer.from(text)
        .toString('latin1')
        .replace(/[\0-\x1f\x7f]/g, ' '),
    );
  const metadata = fc.oneof(
    fc.json({ maxDepth: 5 }).map((text) => Buffer.from(text).toString('latin1')),
    fc
      .dictionary(
        odd.map((text) => text.slice(0, 80)),
        fc.jsonValue({ maxDepth: 2 }),
      )
      .map((value) => Buffer.from(JSON.stringify(value)).toString('latin1')),
    headerValue,
  );
  const author = fc
    .tuple(fc.constantFrom('user', 'email', 'external', 'external:crm', '', 'x'), fc.constantFrom(':', '', '::'), headerValue)
    .map((parts) => parts.join(''));
  const headers = fc.record(
    {
      'Content-Disposition': fc.oneof(
        { weight: 2, arbitrary: disposition },
        { weight: 1, arbitrary: fc.constant('attachment; filename="call.mp3"') },
      ),
      'X-Metadata': metadata,
      'X-Author': fc.oneof(author, fc.constant('email:owner@example.org')),
      'X-External-Id': fc.oneof(headerValue, fc.stringMatching(/^[ -~]{1,128}$/)),
      'Idempotency-Key': headerValue,
      'Content-Type': headerValue,
      'X-Forwarded-For': headerValue,
      Accept: headerValue,
      'If-None-Match': headerValue,
    },
    { requiredKeys: [] },
  );
  await always(
    t,
    fc.tuple(headers, field(['', '?reports=summary', '?language=de&diarize=false'])),
    async ([headers, query]) => {
      const sent = { ...uploadHeaders(key), ...headers } as Record<string, string>;
      const answer = await exchange(request('POST', `/v1/transcriptions${query}`, sent, FILE));
      judge(answer);
      if (answer!.status !== 201) return;
      for (const path of ['', '/export?format=md', '/export?format=json']) {
        const read = await exchange(request('GET', `/v1/transcriptions/${answer!.json.uuid}${path}`, bearer));
        judge(read);
        if (read!.status !== 200) throw new Error(`accepted, but ${path} is ${read!.status} ${read!.body}`);
      }
    },
    2 * RUNS,
  );
});

t.test('multipart uploads of any form get well-formed refusals', async (t) => {
  const part = fc
    .tuple(odd, odd)
    .map(([name, content]) => `--x\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.mp3"\r\n\r\n${content}\r\n`);
  await always(
    t,
    fc.tuple(fc.array(part, { maxLength: 4 }), headerValue),
    async ([parts, boundary]) => {
      const body = Buffer.concat([Buffer.from(`${parts.join('')}--x--\r\n`), Buffer.alloc(1100)]);
      const type = { 'Content-Type': `multipart/form-data; boundary=${boundary.slice(0, 200)}` };
      const answer = await exchange(
        request('POST', '/v1/transcriptions', { ...uploadHeaders(key), ...type } as Record<string, string>, body),
      );
      judge(answer);
      if (answer!.json?.code !== 'unsupported_file_format') throw new Error(answer!.body);
    },
    Math.ceil(RUNS / 2),
  );
});

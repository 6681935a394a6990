import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { finish, LONGHAND } from '../support/processes/processes.ts';
import { eventually, openService } from '../support/processes/service.ts';

const MEBIBYTES = 200; // large, so that the server is killed while receiving it

t.test('upload of a folder survives a server that is killed half-way, and nothing is transcribed twice', async (t) => {
  const service = await openService(t);
  const folder = path.join(service.home, 'recordings');
  mkdirSync(folder);
  for (const name of ['a.wav', 'c.mp3']) writeFileSync(path.join(folder, name), randomBytes(5_000));
  const large = openSync(path.join(folder, 'b.wav'), 'w');
  const block = randomBytes(1_048_576);
  for (let n = 0; n < MEBIBYTES; n++) writeSync(large, block);
  closeSync(large);
  const first = await service.api();
  const send = () => finish(LONGHAND, ['upload', folder, '--url', first.url, '--key', service.key, '--json']);
  const sending = send();
  const early = sending.then(({ stderr }) => Promise.reject(new Error(`The upload exited early: ${stderr}`)));
  await Promise.race([early, eventually(() => service.spooled().length > 1, 'the upload of the large file', 300)]);
  await first.stop('SIGKILL');
  await service.api({ PORT: new URL(first.url).port });
  const { code, stdout, stderr } = await sending;
  t.equal(code, 0, stderr);
  t.match(stderr, /retrying in \d+ s/);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.strictSame(
    rows.map(({ file, status }) => [path.basename(file), status]),
    ['a.wav', 'b.wav', 'c.mp3'].map((name) => [name, 'queued']),
  );
  const stored = await service.db.query<{ id: string }>('*', `select id from transcriptions where status = 'queued'`);
  t.strictSame(stored.map(({ id }) => id).sort(), rows.map(({ id }) => id).sort(), 'one each');
  const again = await send();
  t.equal(again.code, 0);
  t.equal(again.stdout, stdout.replaceAll('"queued"', '"sent before"'), 'a second run finds the same records');
});

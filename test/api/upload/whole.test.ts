/* Uploads of parts of files and of compressed files, which would be taken for the file itself. */
import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';
import { FILE, knock, send } from '../../support/api/uploads.ts';

const POST = 'POST /transcriptions';
const api = await testApi(t);
const { key } = await api.world.key(await api.world.member(await api.world.workspace(), { role: 'owner' }));

t.test('POST /transcriptions refuses a part of a file, which a chunked upload in a browser sends', async (t) => {
  for (const range of [`bytes 0-${FILE.length - 1}/10000`, `bytes 4096-${4095 + FILE.length}/10000`, 'bytes 0-1/*', 'nonsense']) {
    const answer = await knock(api.url, key, { 'Content-Range': range });
    t.match(answer, provokes(POST, 422, 'validation_error'));
    t.strictSame(answer.json.detail.errors, [
      { field: 'Content-Range', message: `found ${range}: parts of a file cannot be joined; send the whole file in one request` },
    ]);
  }
  t.equal((await send(api.url, key, { 'Content-Range': `bytes 0-${FILE.length - 1}/${FILE.length}` })).status, 201, 'the whole file');
});

t.test('POST /transcriptions refuses a compressed body', async (t) => {
  for (const coding of ['gzip', 'GZIP', 'x-gzip', 'deflate', 'compress', 'br', 'zstd', 'identity, zstd']) {
    const answer = await knock(api.url, key, { 'Content-Encoding': coding });
    t.match(answer, provokes(POST, 422, 'validation_error'));
    t.match(answer.json.detail.errors, [{ field: 'Content-Encoding', message: `found ${coding}: send the bytes of the file as they are` }]);
  }
  for (const coding of ['identity', 'binary']) t.equal((await send(api.url, key, { 'Content-Encoding': coding })).status, 201, coding);
});

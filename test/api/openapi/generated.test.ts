/* A typed client generated from the document by openapi-typescript and openapi-fetch: it compiles strictly and its calls succeed. */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { finish, ROOT } from '../../support/processes/processes.ts';

const tool = (name: string) => path.join(ROOT, 'node_modules', '.bin', name);

t.test('a client made with openapi-typescript and openapi-fetch compiles, and its calls succeed', async (t) => {
  const api = await testApi(t);
  const owner = await api.world.member(await api.world.workspace(), { role: 'owner', email: 'anna@example.com' });
  const { key } = await api.world.key(owner);
  const id = await api.world.transcription(owner, { externalId: 'deal-1', metadata: '{"deal":"7"}' });
  await api.world.transcription(owner, { metadata: '{"deal":"8"}' });

  const folder = t.testdir();
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(path.join(folder, 'openapi.json'), JSON.stringify((await api.call('', 'GET', '/v1/openapi.json')).json));
  const made = await finish(tool('openapi-typescript'), ['openapi.json', '-o', 'schema.d.ts'], {}, folder);
  t.equal(made.code, 0, made.stderr);
  writeFileSync(path.join(folder, 'client.ts'), readFileSync(path.join(ROOT, 'test/api/openapi/clients/openapi-fetch.ts')));
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(
    path.join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { strict: true, module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom'], types: ['node'], outDir: 'built' },
      files: ['client.ts'],
    }),
  );

  const compiled = await finish(
    process.execPath,
    [path.join(ROOT, 'node_modules/typescript-7/bin/tsc'), '-p', '.', '--checkers', '1'],
    {},
    folder,
  );
  t.equal(compiled.stdout, '');
  const { readBack, remove, request, send } = await import(pathToFileURL(path.join(folder, 'built', 'client.js')).href);

  t.strictSame(await readBack(api.url, key, id, { deal: '7' }), { id, listed: [id], markdown: true }, 'read, listed by metadata, exported');
  t.equal(await request(api.url, key, id), 'queued');
  const uuid = await send(api.url, key, new Uint8Array(4096), 'call.mp3');
  t.match(uuid, /^[0-9a-f-]{36}$/);
  t.equal(await remove(api.url, key, uuid), 204);
  t.equal(await remove(api.url, key, uuid), 'null: 404', 'a refusal is typed');
});

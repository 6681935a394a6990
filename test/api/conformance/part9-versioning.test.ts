import t from 'tap';
import { ROUTES } from '../../../api/v1/routes.ts';
import { testApi } from '../../support/api/client.ts';

const api = await testApi(t);
const { world } = api;
const owner = await world.member(await world.workspace(), { role: 'owner' });
const { key } = await world.key(owner);

t.test('9 the base URL ends in the version segment: no endpoint of the table answers without it or under another version', async (t) => {
  for (const { method, path } of ROUTES.filter(({ path }) => path.startsWith('/v1/'))) {
    const concrete = path.slice('/v1'.length).replace(/\{[^}]+\}/g, 'x');
    for (const other of ['', '/v0', '/v2', '/v1.1']) {
      t.match(await api.call(key, method, `${other}${concrete}`), { status: 404, json: { code: null } }, `${method} ${other}${concrete}`);
    }
  }
  t.equal((await api.call(key, 'GET', '/v1/workspace')).status, 200);
});

t.test('9 an OpenAPI 3.1 description for generating clients is served under the version, without a key', async (t) => {
  const answer = await fetch(`${api.url}/v1/openapi.json`);
  t.equal(answer.status, 200);
  t.match(await answer.json(), { openapi: /^3\.1\./, servers: [{ url: `${api.url}/v1` }], paths: { '/transcriptions': Object } });
});

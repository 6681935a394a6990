/* The journey of a recording with openapi-typescript and openapi-fetch: BASE (with /v1), KEY, FILE. test/api/openapi/clients/openapi-fetch.ts is that of `npm test`. */
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { readBack, remove, report, request, send, wait } from './client.js';

const [base, key] = [process.env.BASE!.replace(/\/v1$/, ''), process.env.KEY!];

async function main(): Promise<void> {
  const id = await send(base, key, readFileSync(process.env.FILE!), 'call.wav', { deal: 'openapi-fetch' });
  assert.equal(await wait(base, key, id), 'completed');
  assert.deepEqual(await readBack(base, key, id, { deal: 'openapi-fetch' }), { id, listed: [id], markdown: true });
  assert.equal(await request(base, key, id), 'queued');
  assert.ok(await report(base, key, id));
  assert.equal(await remove(base, key, id), 204);
  assert.equal(await remove(base, key, id), 'null: 404');
  console.log('ok');
}

void main();

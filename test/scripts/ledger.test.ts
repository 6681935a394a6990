import { createHash } from 'node:crypto';
import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Entry, find, openLedger } from '../../scripts/commands/ledger.ts';

const entry = (sha256: string): Entry => ({
  ...{
    state: 'sent',
    sha256,
    service: 'https://example.org',
    key: 'k',
    at: '2026-01-01T00:00:00Z',
    id: 'i',
    file: '/call.wav',
    stamp: sha256,
  },
});

t.test('openLedger() keeps what is written after a line that a kill cut off', async (t) => {
  const file = join(t.testdir(), 'uploads.jsonl');
  for (const sha256 of ['one', 'two']) openLedger(file).write(entry(sha256));
  truncateSync(file, readFileSync(file).length - 10);
  const ledger = openLedger(file);
  for (const sha256 of ['three', 'four']) ledger.write(entry(sha256));
  const found = ['one', 'two', 'three', 'four'].filter((sha256) => openLedger(file).find('https://example.org', sha256));
  t.strictSame(found, ['one', 'three', 'four']);
});

t.test('hash() reads the bytes that are sent, also of a file that has grown since', async (t) => {
  const folder = t.testdir({ 'call.wav': 'recorded and more' });
  const file = join(folder, 'call.wav');
  const hash = await openLedger(join(folder, 'uploads.jsonl')).hash(file, { ...(await find(file)), size: 8 });
  t.equal(hash, createHash('sha256').update('recorded').digest('hex'));
});

/* Output of programs that send the whole body before they read the response, for refused uploads. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openLink } from '../../../scripts/systems/refusals/link.ts';
import { type Command, curl, pythonClient, run, wget } from '../../../scripts/systems/refusals/programs.ts';
import { testApi } from '../../support/api/client.ts';
import { findProgram } from '../../support/processes/programs.ts';

const MB = 1_000_000;
const SLOW = 2.5 * MB; // 16 MB take 6.4 s: more than socket buffers hold, and longer than 3 s (an earlier limit of the service)
const api = await testApi(t, { LONGHAND_LIMIT_MAX_FILE_BYTES: String(18 * MB) });
const keyOf = async (minutes: number) =>
  (await api.world.key(await api.world.member(await api.world.workspace({ minutes }), { role: 'owner' }))).key;
const key = await keyOf(100);
const folder = t.testdir();
const [file, large] = [path.join(folder, 'call.wav'), path.join(folder, 'large.wav')];
writeFileSync(file, Buffer.alloc(16 * MB));
writeFileSync(large, Buffer.alloc(19 * MB));
const link = await openLink(Number(new URL(api.url).port), SLOW);
t.teardown(() => link.close());

const REFUSALS = [
  { code: 'unauthorized', key: 'lh_wrong', file, query: '' },
  { code: 'insufficient_balance', key: await keyOf(0), file, query: '' },
  { code: 'file_size_limit_exceeded', key, file: large, query: '' },
  { code: 'validation_error', key, file, query: '?language=tlh' },
];
const PROGRAMS: [name: string, program: string, command: Command][] = [
  ['http.client', 'python3', pythonClient('http.client')],
  ['urllib', 'python3', pythonClient('urllib')],
  ['wget', 'wget', wget],
  ['curl', 'curl', curl],
];

const begun = PROGRAMS.map(([name, program, command]) => {
  const runs = REFUSALS.map(async ({ key, file, query }) =>
    findProgram(program) ? run(command(`http://127.0.0.1:${link.port}/v1/transcriptions${query}`, key, file)) : '',
  );
  return { name, program, printed: Promise.all(runs) };
});

for (const { name, program, printed } of begun) {
  const skip = !findProgram(program) && `${program} is not installed`;
  t.test(`${name} prints the refusal of an upload over a slow connection`, { skip }, async (t) => {
    for (const [i, text] of (await printed).entries()) {
      const { code } = REFUSALS[i]!;
      if (name === 'wget' && code === 'unauthorized') t.match(text, /HTTP\/1\.1 401/, 'wget never shows the body of a 401');
      else t.match(text, `"code":"${code}"`);
    }
  });
}

import t from 'tap';
import { keepCheck } from '../../../models/choosing/choose.ts';
import { routedModels } from '../../../models/choosing/routes.ts';
import type { Check } from '../../../models/descriptor.ts';
import { shareFitted } from '../../support/engine/models.ts';
import { addDigits, DIGITS } from '../../support/engine/recordings.ts';

const home = t.testdir();
shareFitted(home);
await addDigits(home);
const english = new Map([['en', DIGITS]]);

t.test('routedModels() returns the resident model and those of single languages', async (t) => {
  const { resident, others, routes, least } = await routedModels('whisper-base', english, home);
  t.equal(resident.name, 'whisper-base');
  t.strictSame(
    others.map(({ name }) => name),
    [DIGITS],
  );
  t.strictSame([...routes], [['en', DIGITS]]);
  t.equal(least.size, 0, 'it was never checked');
  const own = await routedModels('whisper-base', new Map([['en', 'whisper-base']]), home);
  t.strictSame([own.others.length, own.routes.size], [0, 0], 'a language of the resident model needs no other');
});

t.test('routedModels() takes what a self-check says of confidence', async (t) => {
  const check: Check = {
    at: new Date(0).toISOString(),
    machine: 'a test',
    rates: [],
    invented: 0,
    coverage: 1,
    rtfx: 10,
    threadBytes: 1,
    leastConfidence: 0.8,
  };
  keepCheck(DIGITS, home, check);
  t.strictSame([...(await routedModels('whisper-base', english, home)).least], [[DIGITS, 0.8]]);
});

t.test('routedModels() refuses models that are missing, of other languages, or cannot detect languages', async (t) => {
  const routed = (wanted: string, byLanguage: Record<string, string>) => routedModels(wanted, new Map(Object.entries(byLanguage)), home);
  await t.rejects(routed('whisper-base', { ru: 'gigaam' }), /Cannot find the model gigaam: found whisper-base, digits;/);
  await t.rejects(
    routed('whisper-base', { en: DIGITS, ru: DIGITS }),
    /Cannot use digits for ru: it recognises en; correct LONGHAND_MODELS/,
  );
  await t.rejects(routed(DIGITS, { de: 'whisper-base' }), /digits does not detect languages; set \* in LONGHAND_MODELS/);
  await t.rejects(routed('whisper-base', { en: 'diarization' }), /Cannot recognise speech with diarization/);
});

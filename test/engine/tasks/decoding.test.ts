import t from 'tap';
import type { Engine } from '../../../engine/tasks/engine.ts';
import { nextTranscription } from '../../../engine/tasks/transcribe.ts';
import { excerpt, type TranscriptionRow } from '../../support/engine/engine.ts';
import { wordless } from '../../support/engine/pools.ts';
import { silent, taskBench } from '../../support/engine/tasks.ts';

const bench = await taskBench(t);

t.test('nextTranscription() requests beam search if the engine decodes accurately', async (t) => {
  const workspace = await bench.workspace();
  for (const accurate of [true, false]) {
    const { asked, pool } = wordless();
    const engine = bench.engineHere({ pool, options: { accurate, keepDays: 0 } as Engine['options'] });
    const id = await bench.upload(workspace, await excerpt(), { seconds: 3, diarize: false });
    await (await nextTranscription(engine, { capacity: 2, long: 0 }))!();
    t.match(await bench.row<TranscriptionRow>('transcriptions', id), { status: 'completed' });
    t.strictSame(asked, [accurate]);
  }
});

t.test('nextTranscription() logs that no model recognises the language that a recording was said to be in', async (t) => {
  const workspace = await bench.workspace();
  const told: [string, unknown][] = [];
  for (const language of ['auto', 'en', 'ru']) {
    const warn = (_: object, message: string) => told.push([language, message]);
    const pool = { ...wordless().pool, languages: ['en'] };
    const engine = bench.engineHere({ pool, log: { ...silent, warn } as unknown as Engine['log'] });
    const id = await bench.upload(workspace, await excerpt(), { seconds: 3, diarize: false });
    await bench.db.query('*', 'update transcriptions set requested_language = ? where id = ?', [language, id]);
    await (await nextTranscription(engine, { capacity: 2, long: 0 }))!();
    t.match(await bench.row<TranscriptionRow>('transcriptions', id), { status: 'completed' });
  }
  t.strictSame(told, [['ru', 'no model recognises the requested language; the text is in another one']]);
});

import t from 'tap';
import { talk, transcript } from '../../../bench/reports/talks.ts';
import { openWriter } from '../../../engine/reports/writer.ts';
import { startLlm } from '../../support/servers/llm-server.ts';

const never = new AbortController().signal;
const builtIn = openWriter({});
const named = async (language: string, lines: string) =>
  Object.fromEntries((await builtIn.describe(transcript(language, lines), never)).speakerNames.map(({ speaker, name }) => [speaker, name]));

t.test('describe() finds names in introductions, in every language', async (t) => {
  const expected = {
    'en-sales': { 'Speaker 1': 'Laura', 'Speaker 2': 'Peter Collins' },
    'de-besprechung': { 'Sprecher 1': 'Sabine Krüger', 'Sprecher 2': 'Tobias Lang' },
    'es-soporte': { 'Hablante 1': 'Carmen', 'Hablante 2': 'Javier Ortega' },
    'fr-vente': { 'Intervenant 1': 'Claire Dubois', 'Intervenant 2': 'Marc' },
    'ru-prodazhi': { 'Спикер 1': 'Ольга', 'Спикер 2': 'Дмитрий Соколов' },
    'pt-entrevista': { 'Orador 1': 'Helena Duarte', 'Orador 2': 'Rui Almeida' },
    'it-visita': { 'Parlante 2': 'Paolo Ferri' },
  };
  for (const [name, names] of Object.entries(expected)) {
    const about = await builtIn.describe(talk(name), never);
    t.strictSame(Object.fromEntries(about.speakerNames.map(({ speaker, name }) => [speaker, name])), names);
    for (const { segmentId, evidence } of about.speakerNames)
      t.ok(
        talk(name)
          .segments.find(({ id }) => id === segmentId)!
          .text.includes(evidence),
        'the evidence occurs in the transcript',
      );
  }
});

t.test('describe() does not guess names', async (t) => {
  t.strictSame(await named('en', '[00:00] A: Maria said that Peter will come.\n[00:05] B: I like Maria, and I am German.'), {}, 'mentions');
  t.strictSame(
    await named('en', '[00:00] A: Thank you, Maria.\n[00:05] B: You are welcome.\n[00:09] C: And I have a question.'),
    {},
    'an address that could refer to either of two others',
  );
  t.strictSame(await named('en', '[00:00] A: My name is Maria.\n[00:05] A: My name is Paula.\n[00:09] B: Hello.'), {}, 'a contradiction');
  t.strictSame(
    await named('en', '[00:00] A: My name is Maria Lopez.\n[00:05] B: My name is Maria Lopez.'),
    {},
    'two speakers with the same name',
  );
  t.strictSame(await named('en', '[00:00] A: Hello everyone.\n[00:05] B: Good morning, Doctor.'), {}, 'forms of address');
});

t.test('describe() accepts a greeting by the only other speaker as evidence', async (t) => {
  t.strictSame(await named('en', '[00:00] A: Good morning, Maria. How are you?\n[00:05] B: Fine, thanks.'), { B: 'Maria' });
  t.strictSame(await named('de', '[00:00] A: Guten Tag, Frau Weber.\n[00:05] B: Guten Tag.'), { B: 'Frau Weber' });
});

t.test('describe() with a language model keeps only names that the transcript supports', async (t) => {
  const claims = [
    { speaker: 'Speaker 1', name: 'Laura', kind: 'introduction', segment: 1, evidence: 'this is Laura from Northwind Software' },
    { speaker: 'Speaker 2', name: 'Peter', kind: 'address', segment: 3, evidence: 'Nice to meet you, Peter.' },
    { speaker: 'Speaker 2', name: 'Mrs Hall', kind: 'introduction', segment: 11, evidence: 'I have to ask our director Mrs Hall' },
    { speaker: 'Speaker 1', name: 'Anna', kind: 'introduction', segment: 1, evidence: 'this is Anna from Northwind Software' },
    { speaker: 'Speaker 3', name: 'Bob', kind: 'address', segment: 3, evidence: 'Nice to meet you, Peter.' },
  ];
  const server = await startLlm(() => ({
    content: {
      title: ' **Pilot for "route planning"**',
      summary: 'They agree on a pilot. Peter says “I will pay you twice as much”.',
      topics: ['Pilot', 'Pilot', 'Price'],
      speakers: claims,
    },
  }));
  t.teardown(server.close);
  const about = await openWriter({ baseUrl: server.url }).describe(talk('en-sales'), never);
  t.strictSame(about, {
    title: 'Pilot for "route planning"',
    summary: 'They agree on a pilot.',
    topics: ['Pilot', 'Price'],
    speakerNames: [
      { speaker: 'Speaker 1', name: 'Laura', evidence: 'this is Laura from Northwind Software', segmentId: 1 },
      { speaker: 'Speaker 2', name: 'Peter', evidence: 'Nice to meet you, Peter.', segmentId: 3 },
    ],
  });
});

t.test('describe() with a language model fails with LLM_INVALID_OUTPUT if the response is not a description', async (t) => {
  const server = await startLlm(() => ({ content: 'This is a conversation about a pilot.' }));
  t.teardown(server.close);
  await t.rejects(openWriter({ baseUrl: server.url }).describe(talk('en-sales'), never), { code: 'LLM_INVALID_OUTPUT' });
});

t.test('describe() reads a long transcript in parts and collects names from all of them', async (t) => {
  const server = await startLlm(({ body }) => {
    const shown = body.messages[1]!.content;
    if (!body.messages[0]!.content.includes('"notes"')) return {};
    const at = /\[(\d+)\] \d+:\d+ Guest: My name is Zoe/.exec(shown);
    const speakers =
      at === null
        ? []
        : [{ speaker: 'Guest', name: 'Zoe Hart', kind: 'introduction', segment: Number(at[1]), evidence: 'My name is Zoe Hart' }];
    return { content: { notes: [{ text: 'Something was said.', segment: Number(/\[(\d+)\] \d/.exec(shown)![1]) }], speakers } };
  });
  t.teardown(server.close);
  const filler = Array.from(
    { length: 400 },
    (_, at) => `[${String(at).padStart(2, '0')}:00] Host: We go on talking about the weather in region ${at} for a little while longer.`,
  );
  const { speakerNames } = await openWriter({ baseUrl: server.url, contextTokens: 4096 }).describe(
    transcript('en', [...filler, '[400:00] Guest: My name is Zoe Hart.'].join('\n')),
    never,
  );
  t.match(speakerNames, [{ speaker: 'Guest', name: 'Zoe Hart', segmentId: 401 }]);
});

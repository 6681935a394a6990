import { readdirSync } from 'node:fs';
import t from 'tap';
import { CATALOGUE } from '../../../api/contract/catalogue.ts';
import { INSTRUCTIONS } from '../../../engine/reports/catalogue.ts';
import { LAYOUTS } from '../../../engine/reports/extractive/layouts.ts';
import { evidenceOf } from '../../../engine/reports/ground.ts';
import { openWriter } from '../../../engine/reports/writer.ts';
import { talk, transcript } from './talks.ts';

const never = new AbortController().signal;
const writer = openWriter({});
const TALKS = readdirSync(new URL('fixtures/', import.meta.url))
  .filter((file) => file.endsWith('.txt'))
  .map((file) => file.slice(0, -4));
const report = async (name: string, slug: string) => (await writer.write({ slug, name: slug, prompt: null }, talk(name), never)).text;

/** The lines under one heading. */
function section(text: string, heading: string): string {
  return text.split(/^\*\*(.+)\*\*$/m).reduce((found, part, at, parts) => (parts[at - 1] === heading && at % 2 === 0 ? part : found), '');
}

t.test('CATALOGUE has the 26 templates of the contract, and each has a layout and instructions', async (t) => {
  t.equal(CATALOGUE.length, 26);
  t.strictSame(Object.keys(LAYOUTS).sort(), CATALOGUE.map(({ slug }) => slug).sort());
  t.strictSame(Object.keys(INSTRUCTIONS).sort(), CATALOGUE.map(({ slug }) => slug).sort());
});

t.test('write() gives every template of the catalogue in every language, the same twice, and only words that were said', async (t) => {
  for (const name of TALKS) {
    const evidence = evidenceOf(talk(name));
    for (const { slug } of CATALOGUE) {
      const text = await report(name, slug);
      t.equal(text, await report(name, slug), `${slug} of ${name} is deterministic`);
      t.match(text, /^_.{30,}_\n/, `${slug} of ${name} says what it is`);
      t.notMatch(text, /^#/m);
      const lines = [...text.matchAll(/^- \[\d\d:\d\d\] [^:]+: (.+?)…?$/gm)].map((match) => match[1]!);
      t.ok(
        slug === 'topics-outline' || lines.every((line) => line.includes(' — ') || evidence.find(line) !== undefined),
        `${slug} of ${name} is verbatim`,
      );
    }
  }
});

t.test('write() summarises the main point of a talk, in its language', async (t) => {
  const expected = {
    'en-sales': [/delivery routes are still wrong/, /route planning tool/, /let's go with the pilot/],
    'en-support': [/got my bill this morning and it's, it's just wrong/, /a hold on the direct debit/],
    'en-standup': [/mobile release moves to Thursday/, /search index/],
    'de-besprechung': [
      /Start des Kundenportals/,
      /Anmeldung im Kundenportal funktioniert bei alten Browsern nicht/,
      /verschieben den Start/,
    ],
    'es-soporte': [/conexión a internet no funciona/, /técnico/, /descontar una semana/],
    'fr-vente': [/L'arrosage des parcs nous prend quarante heures/, /commencer par six parcs/],
    'ru-prodazhi': [/учёта? товара/, /пробный месяц/],
    'ru-soveshchanie': [/Подрядчик опять сорвал сроки/, /даём им срок до конца месяца/],
    'fr-entretien': [/on change les priorités toutes les semaines/],
    'de-bewerbung': [/mehr Verantwortung übernehmen/],
    'pt-entrevista': [/engenheiro de energia solar/, /painéis solares/],
    'it-visita': [/dolore al ginocchio/, /risonanza/],
  };
  for (const [name, phrases] of Object.entries(expected)) {
    const text = await report(name, 'summary');
    for (const phrase of phrases) t.match(text, phrase, name);
  }
});

t.test('write() finds tasks with who and when', async (t) => {
  const expected: Record<string, [heading: string, ...RegExp[]]> = {
    'en-sales': [
      'Tasks',
      /\[02:07\] Speaker 1: I will send you the contract for the pilot by Friday/,
      /\[02:17\] Speaker 2: I'll talk to Mrs Hall on Monday/,
    ],
    'de-besprechung': [
      'Aufgaben',
      /Sprecher 3: Ich informiere die Kunden bis Freitag/,
      /Sprecher 2: Ich schicke euch bis morgen einen Plan/,
      /Testfälle/,
    ],
    'es-soporte': ['Tareas', /Hablante 1: Le enviaré un mensaje/, /le llamaré yo misma antes del viernes/],
    'fr-vente': ['Tâches', /Intervenant 1: Je vous enverrai le devis avant vendredi/, /Intervenant 2: Oui, j'enverrai les plans lundi/],
    'ru-prodazhi': ['Задачи', /Спикер 1: Я отправлю вам договор и презентацию до пятницы/, /Спикер 2: А я подготовлю список товаров/],
    'en-support': [
      'Tasks',
      /put that reading in now and cancel the bill/,
      /raise a ticket with the app team and someone will email you by Thursday/,
    ],
    'ru-soveshchanie': [
      'Задачи',
      /Сергей, подготовь, пожалуйста, договор аренды до среды/,
      /Марина, напиши им официальное письмо/,
      /пришли мне контакты/,
    ],
    'fr-entretien': ['Tâches', /confier la documentation à Léa/, /tu me prépares une liste/, /je te l'envoie vendredi/],
    'pt-entrevista': ['Tarefas', /Orador 1: Vou enviar-lhe uma resposta até sexta-feira/],
    'it-visita': ['Attività', /Le mando la ricetta entro domani/, /deve prenotare la risonanza/],
  };
  for (const [name, [heading, ...phrases]] of Object.entries(expected)) {
    const tasks = section(await report(name, 'tasks'), heading);
    for (const phrase of phrases) t.match(tasks, phrase, name);
  }
});

t.test('write() finds decisions and leaves proposals out', async (t) => {
  const expected: Record<string, RegExp> = {
    'en-sales': /^- \[02:07\] Speaker 1: Then let's go with the pilot[^\n]+$/,
    'de-besprechung': /^- \[01:24\] Sprecher 1: Gut, dann haben wir entschieden[^\n]+$/,
    'es-soporte': /^- \[01:07\] Hablante 1: Hemos decidido descontar[^\n]+$/,
    'fr-vente': /^- \[01:28\] Intervenant 2: Alors nous avons décidé[^\n]+$/,
    'ru-soveshchanie': /^- \[00:36\] Спикер 1: Хорошо, тогда берём Химки\.- \[01:11\] Спикер 1: Давайте так: даём им срок[^\n]+$/,
    'fr-entretien': /^- \[01:15\] Intervenant 1: Bon, alors on fait comme ça[^\n]+$/,
    'ru-prodazhi': /^- \[01:28\] Спикер 2: Хорошо, договорились[^\n]+$/,
    'pt-entrevista': /^- \[00:48\] Orador 2: Decidimos instalar[^\n]+$/,
    'it-visita': /^- \[01:31\] Parlante 1: Abbiamo deciso di aspettare[^\n]+$/,
  };
  for (const [name, lines] of Object.entries(expected))
    t.match((await report(name, 'decisions')).split('\n\n').slice(2).join('').replaceAll('\n', ''), lines, name);
});

t.test('write() pairs questions with answers, and objections with replies', async (t) => {
  const answers = await report('ru-prodazhi', 'questions-answers');
  t.match(answers, '- [00:43] Спикер 2: Сколько это стоит?\n  - Ответ [00:51] Спикер 1: Лицензия стоит тридцать тысяч рублей');
  t.match(
    await report('en-sales', 'objections'),
    "I'm worried that it is too expensive for a company of our size.\n  - Reply [01:17] Speaker 1: The license is eight hundred euros",
  );
  t.match(await report('fr-vente', 'objections'), /trop cher pour nous\.\n {2}- Réponse \[00:55\]/);
});

t.test('write() fills the templates of sales, support, HR and medicine from the right lines', async (t) => {
  const bant = await report('ru-prodazhi', 'bant');
  t.match(section(bant, 'Бюджет и цена'), 'бюджет у нас двадцать пять тысяч');
  t.match(section(bant, 'Кто решает'), 'решение принимает директор');
  const complaint = await report('es-soporte', 'complaint-summary');
  t.match(section(complaint, 'La queja'), 'no funciona desde hace tres días');
  t.match(section(complaint, 'Lo que pide el cliente'), 'quiero un descuento');
  const soap = await report('it-visita', 'soap-note');
  t.match(section(soap, 'Soggettivo'), 'dolore al ginocchio destro da tre settimane');
  t.match(section(soap, 'Oggettivo'), 'La pressione è 130 su 80');
  t.match(section(soap, 'Valutazione'), 'infiammazione del menisco');
  t.match(section(soap, 'Piano'), 'Le prescrivo ibuprofene');
  t.match(section(await report('pt-entrevista', 'candidate-scorecard'), 'Salário'), 'três mil euros por mês');
  t.match(await report('es-soporte', 'call-quality-checklist'), '✓ Empatía o disculpa: [00:16] Hablante 1');
  const standup = await report('en-standup', 'standup');
  t.match(standup, '- Done [00:06]: Yesterday I finished the login page');
  t.match(standup, "- Blockers [00:06]: I'm blocked because the mail server on staging is broken.");
});

t.test('write() sorts a messy support call: what is wrong, what is wanted, what was offered, and no account number among it', async (t) => {
  const text = await report('en-support', 'complaint-summary');
  t.match(
    section(text, 'The complaint'),
    /it's just wrong, it says three hundred and twelve pounds[\s\S]+it never went through[\s\S]+broken since February/,
  );
  t.match(section(text, 'What the customer wants'), 'I want somebody to look at the app');
  t.match(section(text, 'What was done or offered'), /cancel the bill[\s\S]+put a hold on the direct debit[\s\S]+thirty pounds credit/);
  t.equal(section(text, 'Next steps'), '', 'nothing is listed twice');
  for (const slug of ['summary', 'questions-answers', 'support-call-review', 'tasks'])
    t.notMatch(await report('en-support', slug), /four four seven/, slug);
});

t.test('write() gives the main points where a template finds nothing of its own', async (t) => {
  t.match(section(await report('en-support', 'soap-note'), 'Main points'), 'got my bill this morning');
});

t.test('write() gives the time of a sentence deep in a long turn, and the start of the turn for the others', async (t) => {
  const long = `${'The weather in the valley was mild and dry all through the autumn. '.repeat(9)}We decided to build the new bridge in spring.`;
  const speech = {
    language: 'en',
    durationSeconds: 60,
    segments: [{ id: 1, start: 100, end: 160, speaker: 'Ann', text: `We agreed to close the old road. ${long}` }],
  };
  const { text } = await writer.write({ slug: 'decisions', name: '', prompt: null }, speech, never);
  t.match(text, '- [01:40] Ann: We agreed to close the old road.');
  t.match(text, '- [02:36] Ann: We decided to build the new bridge in spring.');
});

t.test('write() says plainly what only a model can do', async (t) => {
  t.match(await report('en-sales', 'article-draft'), /only a language model can write/);
  t.match(await report('de-besprechung', 'follow-up-email'), /nur ein Sprachmodell/);
  t.match(await report('en-sales', 'candidate-scorecard'), /Not rated/);
});

t.test('write() answers a custom template with the passages nearest to its words', async (t) => {
  const { text } = await writer.write(
    { slug: 'drivers', name: 'Drivers', prompt: 'What do the drivers think about the navigation app?' },
    talk('en-sales'),
    never,
  );
  t.match(text, /only a language model can write/);
  t.match(section(text, 'Passages closest to the template'), 'We already use a navigation app and they do not like changes.');
});

t.test('write() ranks and outlines in a language whose phrases it does not know, and says what is missing', async (t) => {
  const japanese = transcript(
    'ja',
    '[00:00] 話者1: 今日は新しい倉庫の計画について話します。\n[00:10] 話者2: 新しい倉庫はいつ完成しますか？\n[00:20] 話者1: 新しい倉庫は来年の春に完成する予定です。',
  );
  const { text } = await writer.write({ slug: 'meeting-minutes', name: '', prompt: null }, japanese, never);
  t.match(text, '話者1: 新しい倉庫は来年の春に完成する予定です。');
  t.match(text, 'need a language model: Decisions, Tasks, Other dates.');
  const tasks = await writer.write({ slug: 'tasks', name: '', prompt: null }, japanese, never);
  t.match(tasks.text, '**Main points**');
});

t.test('write() recognises the language of a talk that came without one', async (t) => {
  const { text } = await writer.write({ slug: 'decisions', name: '', prompt: null }, { ...talk('de-besprechung'), language: null }, never);
  t.match(text, '**Entscheidungen**');
});

t.test('write() gives TRANSCRIPT_EMPTY without words and TEMPLATE_UNAVAILABLE without a template', async (t) => {
  await t.rejects(writer.write({ slug: 'summary', name: '', prompt: null }, { language: 'en', durationSeconds: 5, segments: [] }, never), {
    code: 'TRANSCRIPT_EMPTY',
    retryable: false,
  });
  await t.rejects(writer.write({ slug: 'gone', name: '', prompt: null }, talk('en-sales'), never), { code: 'TEMPLATE_UNAVAILABLE' });
  await t.rejects(
    openWriter({ baseUrl: 'http://127.0.0.1:9/v1' }).write({ slug: 'gone', name: '', prompt: null }, talk('en-sales'), never),
    { code: 'TEMPLATE_UNAVAILABLE' },
  );
  await t.rejects(writer.describe(talk('en-sales'), AbortSignal.abort(new Error('deleted'))), { message: 'deleted' });
});

t.test('write() puts the main point of the shared recordings into their summary', async (t) => {
  const clips: [language: string, text: string, phrase: string][] = [
    [
      'en',
      'And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.',
      'ask what you can do for your country',
    ],
    [
      'en',
      'What exactly is Artificial Intelligence? We speak of AI when computer systems perform tasks that usually require human intelligence. This includes, for example, recognizing images, making decisions or engaging in dialogue.',
      'tasks that usually require human intelligence',
    ],
    [
      'en',
      'Permission is hereby granted, free of charge, to any person obtaining a copy of the software and associated documentation files to deal in the software without restriction. The above copyright notice and this permission notice shall be included in all copies.',
      'Permission is hereby granted, free of charge',
    ],
    [
      'es',
      'Mi muy querido Manuel: Hace algunas semanas hube de referirte la historia de El Capitán Veneno, tal y como vivía inédita en el archivo de mi imaginación. Ya está la obra escrita, y hasta impresa; y ahí te la envío. Adiós, generoso hermano.',
      'la historia de El Capitán Veneno',
    ],
    [
      'fr',
      "par exemple des étudiants de l'école bennet en caroline du nord conçoivent chaque année un site web consacré à leur visite de la capitale de l'état chaque année le site est remis à jour",
      'conçoivent chaque année un site web',
    ],
    [
      'de',
      'die angemessene nutzung von blogs kann schülerinnen und schüler befähigen analytischer und kritischer zu werden',
      'nutzung von blogs',
    ],
    ['it', 'Sempre alla radio nacquero anche alcune sue canzoni o meglio ritmi.', 'alla radio nacquero'],
    [
      'pt',
      'o romantismo tinha um grande elemento de determinismo cultural extraído de escritores como goethe fichte e schlegel',
      'determinismo cultural',
    ],
  ];
  for (const [language, text, phrase] of clips) {
    const clip = transcript(language, `[00:00] Speaker 1: ${text}`);
    t.match((await writer.write({ slug: 'summary', name: '', prompt: null }, clip, never)).text, phrase);
    t.match((await writer.describe(clip, never)).summary, phrase);
  }
});

/* Content that the built-in writer extracts from talks in seven languages. */
import t from 'tap';
import { transcript } from '../../../bench/reports/talks.ts';
import { never, report, section, writer } from './built-in.ts';

t.test('write() summarises the main point of a conversation, in its language', async (t) => {
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

t.test('write() finds tasks with owner and due date', async (t) => {
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

t.test('write() finds decisions and excludes proposals', async (t) => {
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

t.test('write() fills the templates for sales, support, HR and medicine from the right lines', async (t) => {
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

t.test('write() sorts a messy support call into problem, request and offer, without the account number', async (t) => {
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

t.test('write() includes the main point of the shared recordings in their summary', async (t) => {
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

import t from 'tap';
import { TALKS, talk } from '../../../bench/reports/talks.ts';
import { guess, isInAnother, textOf } from '../../../engine/reports/extractive/guess.ts';
import { openWriter } from '../../../engine/reports/writer.ts';
import { startLlm } from '../../support/servers/llm-server.ts';
import { never } from './built-in.ts';

/* Languages without cues, by their code. */
const UNKNOWN: [code: string, text: string][] = [
  [
    'nl',
    `Goedemorgen, u spreekt met de afdeling planning. Ik bel over de levering van vorige week, want er ontbreken nog drie dozen en de klant wacht er al dagen op. Kunt u nagaan waar die zijn gebleven? Ja, een moment, ik kijk even in het systeem. Ik zie dat ze nog in het magazijn staan, omdat de chauffeur geen ruimte meer had. We sturen ze morgenochtend met de eerste wagen mee, dan zijn ze voor de middag bij u. Dat is goed, dank u wel.`,
  ],
  [
    'nl',
    `Ik denk dat we niet voor het einde van de maand kunnen beginnen. We moeten met hen over de prijs en de termijn praten, en ook over wie het vervoer betaalt. Ja, dat denk ik ook, maar hij zei dat het voor hem geen probleem is en dat hij ons kan helpen. Als dat zo is, dan doen we het op maandag. Wat vind jij ervan? Ik ben het ermee eens, maar er is nog iemand nodig in het magazijn.`,
  ],
  [
    'af',
    `Ek dink nie ons kan voor die einde van die maand begin nie. Ons moet met hulle oor die prys en die tyd praat, en ook oor wie vir die vervoer betaal. Ja, ek dink ook so, maar hy het gesê dat dit vir hom geen probleem is nie en dat hy ons kan help. As dit so is, dan doen ons dit op Maandag. Wat dink jy daarvan? Ek stem saam, maar ons het nog iemand in die pakhuis nodig.`,
  ],
  [
    'ca',
    `Bon dia, et truco per la reunió de demà. Què et sembla si comencem una mica més tard? El tren arriba a les deu i no voldria fer esperar ningú. Cap problema, ho canvio ara mateix i aviso els altres. Molt bé, gràcies.`,
  ],
  [
    'ca',
    `Jo penso que no podem començar abans de final de mes. Hem de parlar amb ells del preu i del termini, però també de qui paga el transport. Sí, jo també ho penso, però ell va dir que per a ell no és cap problema i que ens pot ajudar. Si és així, doncs ho fem dilluns. Què et sembla a tu? Hi estic d'acord, però em sembla que ens cal una altra persona al magatzem.`,
  ],
  [
    'gl',
    `Eu penso que non podemos comezar antes do fin de mes. Temos que falar con eles do prezo e do prazo, pero tamén de quen paga o transporte. Si, eu tamén o penso, mais el dixo que para el non é un problema e que nos pode axudar. Se é así, entón facémolo xa o luns. Que che parece a ti? Estou de acordo, pero paréceme que nos fai falta outra persoa no almacén.`,
  ],
  [
    'oc',
    `Ieu pensi que podèm pas començar abans la fin del mes. Nos cal parlar amb eles del prètz e del termini, mas tanben de qual paga lo transpòrt. Òc, ieu tanben o pensi, mas el diguèt que per el es pas un problèma e que nos pòt ajudar. S'es atal, alara o farem diluns. De qué ne penses tu? Soi d'acòrdi, mas me sembla que nos cal una autra persona al magasin.`,
  ],
  [
    'ro',
    `Eu cred că nu putem începe înainte de sfârșitul lunii. Trebuie să vorbim cu ei despre preț și despre termen, dar și despre cine plătește transportul. Da, și eu cred la fel, dar el a spus că pentru el nu este o problemă și că ne poate ajuta. Dacă este așa, atunci o facem luni. Tu ce crezi despre asta? Sunt de acord, dar mi se pare că mai avem nevoie de cineva la depozit.`,
  ],
  [
    'da',
    `Jeg tror ikke, at vi kan begynde før slutningen af måneden. Vi skal tale med dem om prisen og om fristen, men også om, hvem der betaler for transporten. Ja, det tror jeg også, men han sagde, at det ikke er noget problem for ham, og at han kan hjælpe os. Hvis det er sådan, så gør vi det på mandag. Hvad synes du om det? Jeg er enig, men jeg tror, at vi har brug for en mere på lageret.`,
  ],
  [
    'sv',
    `God morgon, jag ringer om leveransen från förra veckan. Det saknas fortfarande två lådor, och kunden undrar när de kommer. Ett ögonblick, jag tittar i systemet. Ja, jag ser att de står kvar på lagret, för det fanns ingen plats i bilen. Vi skickar dem i morgon bitti, så de är hos er före lunch. Det låter bra, tack så mycket, då väntar vi på dem.`,
  ],
  [
    'pl',
    `Dzień dobry, dzwonię w sprawie zamówienia z zeszłego tygodnia. Nadal nie dotarły do nas dwa pudła, a klient pyta, kiedy je dostanie. Już sprawdzam w systemie. Tak, widzę, że stoją jeszcze w magazynie, bo w samochodzie nie było miejsca. Wyślemy je jutro rano, więc do południa będą u państwa. Dobrze, dziękuję, w takim razie czekamy.`,
  ],
  [
    'uk',
    `Добрий день, я телефоную щодо замовлення, яке ми зробили минулого тижня. Нам досі не привезли дві коробки, і клієнт уже питає, коли вони будуть. Зараз подивлюся в системі. Так, бачу, вони ще на складі, бо в машині не було місця. Завтра вранці ми їх відправимо, тож до обіду вони будуть у вас. Добре, дякую, тоді чекаємо. Якщо щось зміниться, я вам одразу передзвоню.`,
  ],
  [
    'uk',
    `Я думаю, що ми не зможемо почати до кінця місяця. Нам треба поговорити з ними про ціну і про терміни, але й про те, хто платить за доставку. Так, я теж так думаю, але він сказав, що для нього це не проблема і що він може нам допомогти. Якщо так, то давайте зробимо це вже в понеділок. А що ти про це думаєш? Я згодна, але мені здається, що нам потрібна ще одна людина на складі.`,
  ],
  [
    'be',
    `Добры дзень, я тэлефаную наконт замовы, якую мы зрабілі на мінулым тыдні. Нам дагэтуль не прывезлі дзве скрынкі, і кліент ужо пытаецца, калі яны будуць. Зараз пагляджу ў сістэме. Так, бачу, яны яшчэ на складзе, бо ў машыне не было месца. Заўтра раніцай мы іх адправім. Добра, дзякуй, тады чакаем.`,
  ],
  [
    'bg',
    `Аз мисля, че не можем да започнем преди края на месеца. Трябва да говорим с тях за цената и за срока, но и за това, кой ще плати за транспорта. Да, аз също мисля така, но той каза, че не е проблем за него и че може да ни помогне. Ако е така, тогава да го направим още в понеделник. Какво мислиш ти? Аз съм съгласна, но ми се струва, че ни трябва още един човек за работата в склада.`,
  ],
  [
    'mk',
    `Јас мислам дека не можеме да почнеме пред крајот на месецот. Треба да зборуваме со нив за цената и за рокот, но и за тоа кој плаќа за транспортот. Да, и јас мислам така, но тој рече дека за него не е проблем и дека може да ни помогне.`,
  ],
  [
    'sr',
    `Добар дан, зовем у вези са поруџбином од прошле недеље. Још увек нисмо добили две кутије, а купац пита када ће стићи. Само тренутак, погледаћу у систему. Да, видим да су још у магацину, јер у возилу није било места. Послаћемо их сутра ујутру, па ће до подне бити код вас. Добро, хвала, онда чекамо.`,
  ],
  [
    'tr',
    `Günaydın, geçen haftaki sipariş için arıyorum. İki koli hâlâ elimize ulaşmadı ve müşteri ne zaman geleceğini soruyor. Bir dakika, sisteme bakıyorum. Evet, araçta yer kalmadığı için hâlâ depoda olduklarını görüyorum. Yarın sabah göndereceğiz, öğleden önce sizde olurlar. Tamam, teşekkür ederim, o zaman bekliyoruz.`,
  ],
];

t.test('guess() returns the language of every 40 words of a conversation, if it has cues', async (t) => {
  for (const name of TALKS) {
    const words = textOf(talk(name)).split(/\s+/);
    const parts = Array.from({ length: Math.floor(words.length / 40) }, (_, i) => words.slice(40 * i, 40 * i + 40).join(' '));
    t.strictSame([...new Set(parts.map(guess))], [talk(name).language], name);
  }
});

t.test('guess() takes no language without cues for one that has them', async (t) => {
  for (const [code, text] of UNKNOWN) t.equal(guess(text), null, code);
});

/* Tasks as a report lists them, with few stop words. */
const NOTES = {
  en: 'Send updated offer to Müller by Friday. Check stock of replacement filters. Schedule follow-up call with procurement. Prepare contract draft including extended warranty. Clarify delivery costs with logistics.',
  de: 'Angebot bis Freitag an Müller senden. Bestand an Ersatzfiltern prüfen. Folgetermin mit Einkauf vereinbaren. Vertragsentwurf mit verlängerter Garantie vorbereiten. Lieferkosten mit Logistik klären.',
  es: 'Enviar oferta actualizada a Müller antes del viernes. Comprobar existencias de filtros de repuesto. Programar llamada de seguimiento con compras. Preparar borrador de contrato con garantía ampliada.',
  pt: 'Enviar proposta atualizada para Müller até sexta-feira. Verificar o estoque de filtros de reposição. Agendar ligação com o setor de compras. Preparar minuta do contrato com garantia estendida.',
  fr: "Envoyer l'offre actualisée à Müller avant vendredi. Vérifier le stock de filtres de rechange. Planifier un appel de suivi avec les achats. Préparer un projet de contrat avec garantie prolongée.",
} as const;

t.test('isInAnother() knows notes of each language from those of others', async (t) => {
  for (const [code, text] of Object.entries(NOTES))
    for (const other of Object.keys(NOTES) as (keyof typeof NOTES)[])
      t.equal(isInAnother(text, other), other !== code, `${code} for ${other}`);
});

t.test('write() and describe() ask a language model for the language of the transcript if it is undetermined', async (t) => {
  const server = await startLlm(() => ({ content: 'x' }));
  t.teardown(server.close);
  const writer = openWriter({ baseUrl: server.url, apiKey: 'key', backoffMilliseconds: 1 });
  const dutch = { ...talk('en-sales'), language: null };
  dutch.segments = dutch.segments.map((segment) => ({ ...segment, text: UNKNOWN[0]![1] }));
  await writer.write({ slug: 'summary', name: 'Summary', prompt: null }, dutch, never).catch(() => {});
  await writer.describe(dutch, never).catch(() => {});
  const asked = server.calls.map(({ body }) => body.messages.map(({ content }) => content).join('\n'));
  t.match(asked[0], 'Write the report in the language of the transcript, as JSON.');
  t.match(asked.at(-1), 'Describe this conversation in the language of the transcript, as JSON.');
});

import type { Language } from './cue.ts';

const DO =
  '(schick*|send*|bereite?*|schreib*|prüf*|ruf*|frag*|aktualisier*|teil*|buch*|plan*|erstell*|mach*|kümmer*|klär*|meld*|besprech*|bestell*|test*|organisier*|lad*|unterschreib*|bestätig*|bezahl*|überweis*|sammel*|sammle|vergleich*|stell*|übernehm*|gebe|überarbeit*|vereinbar*|informier*|bring*|such*|reparier*|tausch*|präsentier*|vorbereit*|verschick*|zuschick*|weiterleit*|abschließ*|anruf*|abklär*|nachfrag*|schau*|einricht*|dokumentier*|liefer*|beantrag*|anpass*)';

export const de: Language = {
  ordinals: true,
  phrases: {
    task: `ich (werde|will|soll|muss|kann) .. ${DO}|ich ${DO} (dir|ihnen|euch|das|die|den|dem|der|ihm|ihr|mich|es|bis|noch|dann|morgen|heute|eine?n?)|wir (müssen|sollten|werden|wollen) .. ${DO}|(kannst|könntest|können|könnten|würdest|würden) (du|sie|ihr) .. ${DO}|bitte ${DO}|[^ ]+ wird .. ${DO}|(du|sie) (musst|müssen|sollst|sollen|solltest|sollten) .. ${DO}|nicht vergessen|denk daran|denken sie (bitte )?daran|aufgabe*|(das )?übernehme ich|(ist|sind) (zuständig|verantwortlich) für|(bis|am) [^ ]+ ${DO} ich`,
    decision:
      '(wir|ich) (haben|habe) .. (entschieden|beschlossen|vereinbart|geeinigt|festgelegt)|(wir|ich) entscheide(n)? (uns|mich)|wir (nehmen|machen es|bleiben bei|verschieben|streichen|wählen|einigen uns)|wir machen das so|(die|unsere) entscheidung (ist|lautet|war|steht)|(beschlossen|abgemacht|einverstanden|genehmigt|freigegeben|beschlossene sache)|so machen wir (es|das)|dann (machen|nehmen|bleiben) wir|(ist|sind|wurde|wurden) (beschlossen|genehmigt|freigegeben|entschieden)|wir werden nicht',
    objection:
      'zu (teuer|viel|kompliziert|langsam|riskant|lang|spät|hoch|aufwendig|aufwändig)|(ich|wir) (bin|sind|habe|haben) .. (nicht sicher|skeptisch|besorgt|unsicher|bedenken|zweifel|sorge|sorgen|angst|nicht überzeugt)|(meine|unsere|die) (sorge|befürchtung|bedenken)|(wir|ich) (haben|nutzen|verwenden|arbeiten|habe|nutze) (aber )?(schon|bereits|derzeit|aktuell)|(brauchen|brauche|benötigen) .. (nicht|kein|keine|keinen)|(können|kann) .. nicht leisten|(kein|keine) (budget|zeit|interesse|bedarf|priorität)|über (unserem|dem|unser) budget|günstiger*|billiger*|muss .. überlegen|müssen .. überlegen|ich bezweifle|was ist wenn|was passiert wenn|schwer zu (rechtfertigen|verkaufen)|sehe (ich )?kritisch',
    nextStep:
      'nächste(r|n)? schritt(e|en)?|(ich|wir) (melde|melden) (mich|uns)|(termin|meeting|gespräch|demo|telefonat) .. (vereinbaren|ausmachen|machen|ansetzen|planen)|(vereinbaren|machen|planen) wir .. (termin|meeting|gespräch|demo)|(sprechen|treffen|sehen|hören) (wir )?uns|(schicke|sende|schicken|senden) .. (angebot|vertrag|unterlagen|einladung|rechnung|zusammenfassung|link)|wie geht es weiter|weiteres vorgehen|wir bleiben in kontakt|als nächstes',
    deadline:
      '(bis|am|ab|vor|diesen|nächsten|kommenden) (zum )?(montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|morgen|übermorgen|mittag|abend|wochenende|weihnachten|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)|bis (zum )?(ende|anfang|nächste*|kommende*|[0-9]+)|(nächste|kommende|diese) (woche|monat)|(nächsten|kommenden|diesen) monat|(nächstes|dieses) (jahr|quartal)|(ende|anfang|mitte) (der|des|nächster|nächsten|dieser|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)|in (einem|einer|zwei|drei|vier|fünf|sechs|[0-9]+) (tag|tagen|woche|wochen|monat|monaten|jahren|stunden)|frist|termin|stichtag|deadline|(?<!guten )morgen|so schnell wie möglich|(erste|zweite|dritte|vierte)(n|s)? quartal',
    important:
      '(das )?(wichtigste|entscheidende|zentrale)|(ganz |sehr |besonders )?wichtig|der (wichtigste|entscheidende|springende|zentrale|große) (punkt|grund|unterschied)|(die|das) (haupt*|kern*)|zusammenfassend|zusammengefasst|kurz gesagt|mit anderen worten|im grunde|unter dem strich|es geht (vor allem )?darum|vor allem|das problem ist|das ergebnis|es hat sich gezeigt|denkt daran|merken (sie|wir) (sich|uns)',
    opinion:
      'ich (glaube|denke|finde|meine|hoffe|wünsche|liebe|hasse)|meiner (meinung|ansicht|erfahrung) nach|für mich|ehrlich gesagt|um ehrlich zu sein|offen gesagt|die wahrheit ist|niemals|immer|das beste|das schlimmste|unglaublich|stolz|ich habe gelernt|fantastisch|großartig',
    problem:
      '(funktioniert|geht|läuft|startet|lädt|öffnet|klappt|funktionieren) .. nicht|kaputt|defekt|beschädigt|(das|ein|mein|unser|unsere|größte|großes) (problem|probleme|fehler|störung|ausfall|beschwerde)|probleme? mit|(abgestürzt|stürzt ab|fehlgeschlagen|blockiert|hängt|fehlt|fehlen|verspätet|verzögert|verspätung)|warte(n)? .. (auf|seit)|noch immer (nicht|kein|keine)|immer noch (nicht|kein|keine)|(enttäuscht|verärgert|unzufrieden|frustriert|ärgerlich|inakzeptabel|unmöglich|wütend|schlecht|schlimm|frechheit)|schiefgelaufen|(ausgefallen|ausfällt|verschwunden|gestört)|(ist|war|sind) (einfach |völlig |komplett |ganz |schon wieder )?(falsch|zu hoch|nicht richtig)|(nie|niemals) (angekommen|gekommen|erhalten|bekommen)|nicht mehr weiter*|schief gelaufen|doppelt (abgebucht|berechnet)|niemand .. (angerufen|gemeldet|geantwortet|zurückgerufen)|(kann|konnte|können|konnten) .. nicht (öffnen|einloggen|anmelden|zugreifen|nutzen)|schwierig*|zu langsam|beschwer*|blocker|nicht gut gelaufen',
    remedy:
      '(möchte|will|verlange|erwarte|fordere|hätte gern|hätte gerne) .. (geld|erstattung|rückerstattung|ersatz|entschädigung|rabatt|gutschrift|entschuldigung|reparatur|umtausch)|geld zurück|(ich|wir) (will|wollen|möchte|möchten|erwarte|erwarten) dass|schriftlich|rückerstattung|erstattung|ersatzgerät|ersatz|entschädigung|kündigen|kündigung|stornier*|umtausch*|zurückschicken|vorgesetzte*',
    solution:
      '(ich|wir) (habe|haben) .. (behoben|gelöst|repariert|neu gestartet|zurückgesetzt|ersetzt|erstattet|korrigiert|geändert|aktualisiert|gutgeschrieben)|(funktioniert|geht|läuft) (es |das )?(jetzt|wieder)|(ich|wir) (werde|werden|kann|können) .. (erstatten|ersetzen|gutschreiben|beheben|weiterleiten|austauschen|reparieren)|(starten|setzen|schalten|versuchen|probieren) sie|haben sie .. (versucht|probiert|neu gestartet)|(ich|wir) (habe|haben) .. (storniert|veranlasst|gestoppt|ausgesetzt|eingetragen|angelegt|gesperrt)|(ich|wir) (kann|können|biete|bieten) ihnen .. (an|anbieten|gutschrift)|lösung|ticket|ticketnummer|behoben|gelöst|ich schicke ihnen .. (neu*|ersatz*)',
    greeting:
      'guten (morgen|tag|abend)|hallo|servus|moin|grüß (gott|dich|sie)|herzlich willkommen|willkommen|vielen dank für (ihren|deinen) anruf',
    introduction:
      'mein name ist|ich heiße|ich bin (der|die) [^ ]+|[^ ]+ am apparat|(hier )?(ist|spricht) [^ ]+ (von|vom|aus)|wie kann ich (ihnen )?(helfen|weiterhelfen)|was kann ich für sie tun',
    verify:
      '(ihre|die|deine) (bestellnummer|kundennummer|auftragsnummer|vertragsnummer|telefonnummer|rechnungsnummer|adresse|e ?mail ?adresse|postleitzahl|seriennummer)|(bestell|kunden|auftrags|vertrags|rechnungs)nummer|geburtsdatum|ihren (vollständigen )?namen|(bestätigen|buchstabieren) sie|können sie .. (bestätigen|buchstabieren)|sicherheitsfrage',
    apology:
      'tut mir (sehr |wirklich |echt )?leid|tut uns (sehr )?leid|entschuldig*|ich verstehe (ihren|das|sie|dich|vollkommen)|das verstehe ich|verständlich|kann ich (gut )?nachvollziehen|verzeih*|ich bedaure|bedauere',
    anythingElse: '(sonst|noch) (noch )?(etwas|was|fragen)|(kann ich|gibt es) .. noch( (etwas|was|fragen))?|weitere fragen|haben sie noch',
    thanks: '(vielen |herzlichen |besten |schönen )?dank|danke( schön| sehr)?|dankbar|ich weiß das zu schätzen',
    farewell:
      'auf wieder(sehen|hören)|tschüss|tschüs|ciao|bis (bald|dann|später|morgen|nächste woche)|(schönen|guten|schöne) (tag|abend|woche|wochenende)|schönes wochenende|mach(t|en sie)? .. gut',
    money:
      'budget*|preis*|kosten|kostet|wie viel|euro|[$€£]|pro (monat|jahr|nutzer|person|lizenz)|rabatt*|rechnung*|zahl(en|t|e|ung|ungen)|bezahl*|teuer|teurer|günstig*|billig*|leisten|angebot|gehalt*|gebühr*|tausend|million*',
    authority:
      '(mein|unser|der|meine|unsere|die|meinem|unserem|unserer|meiner|dem) (chef|chefin|vorgesetzter|geschäftsführer|geschäftsführung|geschäftsleitung|vorstand|einkauf|rechtsabteilung|leitung|leiter|leiterin|partner|gremium)|entscheid(e|en|et) (ich|das|er|sie|der|die)|entscheider*|(muss|müssen) .. (fragen|absprechen|abstimmen|genehmigen|freigeben|zustimmen)|freigabe|genehmigung|wer entscheidet|das letzte wort',
    need: '(wir|ich) (brauchen|brauche|benötigen|benötige|suchen|suche|wünschen|hätten gern|hätten gerne|möchten|wollen)|auf der suche nach|(unser|mein|der|unsere|die) (bedarf|ziel|anforderung|anforderungen|wunsch|herausforderung)|manuell|von hand|es wäre (gut|schön|hilfreich|toll)|uns fehlt|was uns fehlt|wichtig (für uns|wäre)|verlieren .. (zeit|stunden|geld)',
    competition:
      'wettbewerber*|konkurrenz*|mitbewerber*|(anderer|anderen|andere|anderes|aktuelle*|bestehende*|bisherige*) (anbieter|lieferant*|lösung|tool|system|angebot|software)|im vergleich zu|vergleich* mit|alternative*|statt|wechseln|umsteigen|(nutzen|verwenden|arbeiten) (wir )?(derzeit|aktuell|momentan|bereits|schon)|excel|tabelle*',
    done: '(habe|haben|hat) .. (fertig|abgeschlossen|erledigt|gemacht|geschickt|geschrieben|getestet|behoben|implementiert|umgesetzt|veröffentlicht|aktualisiert|gearbeitet|gebaut|hinzugefügt|geprüft|besprochen|angefangen|begonnen|fertiggestellt|gestern)|gestern|(ist|sind) (fertig|erledigt|abgeschlossen|live|umgesetzt|bereit)',
    positive:
      '(gut|super|prima|hervorragend|reibungslos|besser) (gelaufen|funktioniert|geklappt|gemacht)|(läuft|lief|klappt|klappte|funktioniert) .. (gut|super|prima|besser)|(sehr |wirklich )?(zufrieden|glücklich|froh|stolz)|(gute|tolle|großartige|super|gutes|tolles) (arbeit|ergebnis|zusammenarbeit|fortschritte?|idee|feedback|team)|(hat|haben) (mir|uns) (sehr )?(gefallen|geholfen)|gefällt mir|verbessert|erfolg*|schneller als|pünktlich',
    idea: '(wir|man|du|sie|ich) (könnten|könnte|könntest|sollten|sollte|solltest) .. (versuchen|probieren|einführen|anfangen|nutzen|machen|verbessern|automatisieren|ändern|öfter|mehr|weniger|früher)|wie wäre es|was wäre wenn|warum .. nicht|lasst uns|(meine|eine|die) idee|(mein|ein|der) vorschlag|ich (schlage|würde) .. (vor|vorschlagen|empfehlen)|ich empfehle|nächstes mal|beim nächsten mal|(wäre|ist) besser|vielleicht (sollten|könnten) wir|verbesserung*',
    feedback:
      'feedback|rückmeldung*|(du|sie) (hast|haben|machst|machen) .. (gut|super|toll|hervorragend|besser)|gute arbeit|tolle arbeit|(du|sie) (könntest|könnten|solltest|sollten) .. (mehr|öfter|besser|verbessern|delegieren|kommunizieren)|mir ist aufgefallen|ich (schätze|finde es gut)|verbesserungspotenzial|stärke*|schwäche*',
    goal: 'ziel*|(ich) (will|möchte|würde gerne|würde gern) .. (werden|lernen|wachsen|verbessern|leiten|führen|entwickeln|übernehmen)|karriere*|beförderung|weiterbildung*|schulung*|fortbildung*|kurs*|zertifi*|langfristig|bis (zum )?(jahresende|ende des jahres)|entwicklungsplan|weiterentwick*',
    wellbeing:
      "wie geht es (dir|ihnen)|wie geht's|wie läuft( es)?|wie war (dein|ihr|das) (wochenende|urlaub)|auslastung|arbeitsbelastung|(ich bin|ich fühle mich|bin) .. (müde|gestresst|überlastet|erschöpft|motiviert|zufrieden|frustriert|krank|ausgelastet)|mir geht es|urlaub|überstunden|zu viel (arbeit|zu tun)|work life balance|stress*",
    experience:
      '(ich habe|habe ich|ich war|ich bin) .. (gearbeitet|geleitet|aufgebaut|entwickelt|studiert|verantwortlich|betreut|gesammelt|eingesetzt|tätig)|(jahre|jahren) (erfahrung|berufserfahrung|als|bei|lang)|(mein|meine|meiner|meinem|meinen) (letzte*|vorherige*|aktuelle*|erste*) (job|stelle|position|firma|projekt|arbeitgeber)|studium|abschluss|bachelor|master|universität|verantwortlich für|zuständig für|erfahrung* (mit|in|als)|kenntnisse|fähigkeiten|berufserfahrung|ausbildung',
    motivation:
      'ich möchte .. (übernehmen|leiten|lernen|arbeiten|wechseln|weiterentwickeln)|(warum|weshalb) .. wechseln|nicht mehr weiter*|warum (möchten|wollen|haben|interessieren|willst|möchtest)|ich (interessiere mich|bin interessiert|bin begeistert|bin motiviert|suche|habe mich beworben)|ich (möchte|würde gerne|würde gern) .. (arbeiten|lernen|wechseln)|reizt mich|(neue|neuen) (herausforderung|aufgabe|stelle)|kündigungsfrist|gehaltsvorstellung*|(verfügbar|anfangen|beginnen|starten) (ab|zum|am|sofort)|ab sofort',
    definition:
      '(ist|sind|wird|werden) .. (genannt|bezeichnet|definiert)|nennt man|bezeichnet man|(bedeutet|heißt|besteht aus|steht für|beschreibt)|versteh(t|en) (man|wir) unter|unter .. verstehen wir|definition|was ist( (eigentlich ))?|sprechen wir von|(ist|sind) (ein|eine|der|die|das) .. (der|die|das|bei dem|in dem)',
    example:
      'zum beispiel|beispielsweise|ein beispiel|etwa|stell(t|en)? (euch|sie sich|dir) .. vor|nehmen wir( an)?|angenommen|betrachten wir|wie zum|dazu (gehören|gehört)',
    symptom:
      'schmerz*|(kopf|bauch|rücken|hals|brust|gelenk)schmerz*|fieber|husten|schwindel*|übelkeit|übel|müde|müdigkeit|schwach|ausschlag|geschwollen|schwellung|taub|juck*|atemnot|kurzatmig|tut .. weh|weh tut|erbrochen|schlaf* .. (schlecht|nicht)|schlafstörung*|blutung*|allergi*|beschwerden|symptom*|seit (gestern|montag|etwa|zwei|drei|vier|einer|einem|ein paar|[0-9]+)( tagen| wochen| monaten)?',
    finding:
      'blutdruck|puls|herzfrequenz|temperatur|gewicht|[0-9]+ zu [0-9]+|grad|röntgen*|mrt|ct|ultraschall|ekg|blutbild|blutwerte|laborwerte|(bei der )?untersuchung|(lunge|herz|hals|ohren|bauch|brust) .. (frei|unauffällig|gerötet|klingt|sieht)|milligramm|reflexe|druckschmerz*|befund*|ergebnis(se)?',
    assessment:
      '(das |es )?(sieht|klingt|hört sich) .. (nach|aus|an)|wahrscheinlich|vermutlich|ich (vermute|denke|glaube) .. (dass|es|das)|diagnos*|verdacht*|infektion|entzündung|deutet .. (auf|hin)|spricht für|ausschließen|nichts ernstes|harmlos',
    treatment:
      'verschreib*|(nehmen|nimm) sie|rezept|(antibiotik*|ibuprofen|paracetamol|aspirin|tablette*|medikament*|salbe|tropfen|spritze|impfung)|(kommen|komm) sie .. wieder|kontrolltermin|überweis*|überweisung|ruhe|viel trinken|schonen|physiotherapie|operation|behandlung|therapie|blut abnehmen|milligramm|(zwei|drei|ein)mal (am tag|täglich)',
    claim:
      '(er|sie|wir|ich) (sagte|sagten|behauptet*|erklärte*|versprach*|unterschrieb*|verweiger*|bestätigte*|bestritt*|sah|zahlte*|bekam*)|(habe|haben|hat) .. (gesagt|behauptet|versprochen|unterschrieben|verweigert|bestätigt|gesehen|bezahlt|erhalten|zugesagt|bestritten)|vertrag*|vereinbarung*|beweis*|zeug(e|en|in)|laut|haftung|schaden*|klage|gericht|klausel|unterlagen|polizei|unfall|versicherung|streit*|schreiben',
  },
  questions:
    'was|warum|wieso|weshalb|wie|wann|wo|wer|wen|wem|welche|welcher|welches|woher|wohin|womit|können sie|kannst du|könnten sie|könntest du|haben sie|hast du|sind sie|bist du|ist das|gibt es|sollen wir|möchten sie|würden sie',
  stop: `ende schön doch mal also gut tag aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anders auch auf aus außerdem bei beim bereits besser bin bis bisher bisschen bist bitte
da dabei dadurch dafür dagegen daher damit danach dann daran darauf daraus darf darin darüber darum das dass dasselbe davon dazu dein deine deinem deinen deiner dem den denen denke denn der
deren derselbe des deshalb dessen dich die dies diese diesem diesen dieser dieses dir doch dort drei du durch eben ebenso eher eigentlich ein eine einem einen einer eines einfach einige einigen
einmal eins er erst erste ersten es etwa etwas euch euer eure fast für ganz ganze ganzen gar geben gegen gehen geht genau genauso gerade gern gerne gesagt gestern gewesen gibt ging glaube
gleich gut gute guten guter gutes hab habe haben halt hast hat hatte hatten hätte hätten heißt her heute hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in indem ins ist ja
jede jedem jeden jeder jedes jedoch jemand jetzt kann kannst kein keine keinem keinen keiner klar kleine kleinen komme kommen kommt können könnte könnten lang lange lassen leider letzte letzten
machen macht mal man manche mehr mein meine meinem meinen meiner mich mir mit möchte möchten muss müssen müsste nach nachdem nachher nächste nächsten natürlich neben nein neu neue neuen nicht
nichts nie niemand noch nun nur ob oben oder ohne okay paar per relativ richtig sagen sagt schauen schon sehe sehen sehr sei sein seine seinem seinen seiner seit selber selbst sich sicher sie
sind so sogar solche sollen sollte sollten sondern sonst soll sowie super trotzdem tun tut über überhaupt um und uns unser unsere unserem unseren unserer unter usw vielleicht viel viele vielen
vom von vor vorher wahrscheinlich wann war waren wäre wären warum was weg wegen weil weiß weiter weitere welche welchen welcher wem wen wenig weniger wenn wer werde werden wie wieder will wir
wird wirklich wissen wo wollen wollte worden wurde wurden würde würden zu zum zur zwar zwei zwischen äh ähm hm mhm ach naja tja woche wochen monat monate monaten tag tage tagen jahr jahre jahren
uhr zeit mensch menschen leute ding dinge sache sachen art teil herr frau danke hallo montag dienstag mittwoch donnerstag freitag samstag sonntag morgen minuten stunden stelle punkt frage fragen`,
  determiners:
    'der die das den dem des ein eine einen einem einer eines mein meine meinen unser unsere unseren unserem ihr ihre ihren dein deine kein keine im am zum zur beim vom von für mit über ohne diese dieser dieses diesen neue neuen',
  names: {
    introductions: [
      'mein name ist NAME',
      'ich heiße NAME',
      'ich bin (?:der |die )NAME',
      'ich bin NAME,? (?:von|vom|aus|und ich bin|ihr|ihre)',
      'hier (?:ist|spricht) NAME',
      'NAME am Apparat',
    ],
    addresses:
      'hallo|hi|danke|vielen dank|guten tag|guten morgen|guten abend|willkommen|tschüss|auf wiedersehen|auf wiederhören|servus|liebe|lieber',
    never:
      'Leute Alle Zusammen Herr Frau Herrn Doktor Chef Team Kollegen Ihnen Sie Dir Euch Und Also Für Dass Gott Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag Ja Nein Dank Ihre Ihr Schön Nochmal Damen Mama Papa Ich Wir Das',
    titles: 'Herrn?|Frau|Dr\\.?|Doktor|Professor|Prof\\.?',
  },
};

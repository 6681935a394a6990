import type { Language } from './cue.ts';

const DO =
  '(invi*|mand*|prepar*|scriv*|controll*|verific*|chiam*|richiam*|telefon*|chied*|aggiorn*|condivid*|prenot*|pianific*|organizz*|cre(are|o)|far(e|ò|emo|lo)|finir*|finisc*|complet*|trov(are|o)|ordin(are|o)|prov(are|o)|test(are|o)|aggiung*|contatt*|invit*|caric*|firm*|pag(are|o|herò)|conferm*|occup*|raccogl*|confront*|corregg*|sistem*|guard(are|o|erò)|present*|parl(are|o|erò)|inform*|avvis*|trasmett*|inoltr*|consegn*|document*|rimbors*|sostitu*|cambi(are|o|erò)|fiss(are|o|erò)|rived*|risolv*|approfond*|cerc(are|o)|port(are|o|erò)|richied*)';

export const it: Language = {
  elision: true,
  phrases: {
    task: `(devo|dobbiamo|deve|devi|dovrei|dovremmo|dovrebbe|bisogna|bisognerà|occorre|c' è da) ${DO}|(vado|andiamo) a ${DO}|(ti|vi|le|gli|lo|la|li|glielo|ve lo|te lo|me ne) (invio|invierò|mando|manderò|preparo|preparerò|chiamo|chiamerò|richiamo|richiamerò|confermo|confermerò|scrivo|scriverò|faccio|occupo|occuperò|aggiorno|aggiornerò|controllo|controllerò)|(puoi|potresti|può|potrebbe|potete|riesci a|riesce a) (per favore |per cortesia )?${DO}|per favore ${DO}|me ne (occupo|occuperò|incarico)|ci penso io|lo faccio io|non (dimenticare|dimenticarti|dimentichi)|ricord(a|ati|arsi) di|(è|sarà) (responsabile|incaricat*) (di|del|della)|attività da|compit(o|i)|(invierò|manderò|preparerò|chiamerò|controllerò|farò|scriverò|parlerò|aggiornerò|verificherò|organizzerò|confermerò|finirò)|(invierà|manderà|preparerà|chiamerà|controllerà|farà|scriverà|parlerà|aggiornerà|verificherà)|(vogliamo|voglio|intendo) ${DO}`,
    decision:
      "(abbiamo|ho|hanno) .. (deciso|concordato|stabilito|approvato|scelto|convenuto)|(decidiamo|concordiamo|approviamo|scegliamo|optiamo per|stabiliamo)|(andiamo|procediamo|proseguiamo) con|(restiamo|rimaniamo) (con|su)|(la|nostra) decisione (è|finale)|(è|sono|è stato|è stata|rimane) (decis*|approvat*|concordat*|stabilit*|confermat*)|d' accordo allora|allora facciamo (così|che)|facciamo così|affare fatto|(rimandiamo|annulliamo|manteniamo|teniamo)|non (faremo|andremo)",
    objection:
      "troppo (caro|cara|costoso|costosa|complicato|complicata|lento|lenta|rischioso|lungo|tardi|alto)|(mi|ci) (preoccupa|preoccupano|spaventa)|(non )?(sono|siamo) .. (sicuro|sicura|sicuri|convinto|convinta|convinti|preoccupato|preoccupata|preoccupati|scettico|scettici)|(mia|nostra|la) (preoccupazione|perplessità|paura)|(mio|nostro|il) (dubbio|timore)|(abbiamo|usiamo|utilizziamo|lavoriamo|uso|ho) già|già (abbiamo|usiamo|utilizziamo)|non (abbiamo bisogno|ho bisogno|ci serve|mi serve|possiamo permetterci|abbiamo (il )?budget|c' è (il )?budget|è una priorità|è il momento|ci interessa|mi interessa|vedo)|fuori (dal )?(nostro )?budget|(più|meno) (economic*|car*)|(dobbiamo|devo) pensarci|e se (non|poi)|dubito|difficile da (giustificare|vendere)",
    nextStep:
      "prossimi? pass(o|i)|prossimi step|(fissare|programmare|organizzare|fissiamo|programmiamo|organizziamo) .. (chiamata|riunione|incontro|demo|appuntamento|call)|(ci (sentiamo|vediamo|risentiamo|aggiorniamo|ritroviamo))|(invio|invierò|mando|manderò) .. (proposta|contratto|offerta|preventivo|fattura|invito|riepilogo|link)|da qui in avanti|d' ora in poi|restiamo in contatto|rimaniamo in contatto|il piano è|le faccio sapere|ti faccio sapere|vi faccio sapere|la ricontatto|ti ricontatto",
    deadline:
      "(entro|per|prima di|da|questo|prossimo|fino a) (il |la )?(lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|domani|mezzogiorno|stasera|natale)|(lunedì|martedì|mercoledì|giovedì|venerdì) (prossimo|mattina|pomeriggio)|entro (la|il|l'|fine|domani|[0-9]+|gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre)|(a|in|di) (gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre)|(la )?(settimana prossima|prossima settimana|questa settimana)|(il )?(mese prossimo|prossimo mese|prossimo anno|anno prossimo|prossimo trimestre)|(tra|fra|in) (un|una|due|tre|quattro|cinque|sei|[0-9]+) (giorno|giorni|settimana|settimane|mese|mesi|anni|ore|ora)|scadenza*|data di consegna|domani|il prima possibile|lunedì|martedì|mercoledì|giovedì|venerdì|al più presto|(fine|inizio|metà) (settimana|mese|anno|trimestre)|(primo|secondo|terzo|quarto) trimestre",
    important:
      "(il |la |la cosa |il punto )?più importante|(molto |davvero )?importante|(l' )?essenziale|(la|il|l') (idea|punto|ragione|motivo|problema|messaggio|questione) (principale|chiave|centrale|fondamentale)|(punto|aspetto|tema) (principale|chiave|centrale|fondamentale)|in (sintesi|conclusione|breve|altre parole|sostanza)|per (riassumere|concludere)|cioè|alla fine|soprattutto|si tratta di|il risultato|ricordate|tenete presente|ciò che conta",
    opinion:
      '(io )?(penso|credo|ritengo|sento|spero|desidero|sogno|adoro|odio) [^ ]+|(secondo|per) me|a mio (parere|avviso)|nella mia esperienza|(sinceramente|onestamente|francamente)|la verità è|(mai|sempre)|(il|la) (migliore|peggiore)|(incredibile|meravigliosa?|fantastico|orgogliosa?)|ho imparato|mi piace|voglio',
    problem:
      'non (funziona|funzionano|funzionava|ha funzionato|parte|si avvia|si apre|carica|è arrivat*|sono arrivat*|si connette|risponde|va|si accende)|(rott*|guast*|danneggiat*|difettos*)|(il|un|altro|nostro|mio|grosso|grande) (problema|errore|guasto|ritardo|difetto|bug)|(i|dei|molti|ci sono|abbiamo avuto|abbiamo) (problemi|errori|ritardi|bug)|problem(a|i) con|(si è bloccat*|bloccat*|blocco|fallit*|manca|mancano|in ritardo|ritardo)|(sto|stiamo|sono) .. aspettando|aspetto da|ancora non|non .. ancora|(insoddisfatt*|delus*|frustrat*|arrabbiat*|irritat*|inaccettabile|pessim*|terribile|vergogn*)|andat(o|a) (male|storto)|(è|era) (sbagliat*|errat*|scorrett*)|(mai|non) .. (arrivat*|ricevut*)|addebitat* due volte|(doppio|due) addebit*|nessuno .. (chiamato|risposto|richiamato)|non (riesco|riusciamo|posso|sono riuscit*) .. (accedere|entrare|aprire|usare|collegar*)|difficil*|troppo (lento|tempo)|reclam*|lament*',
    remedy:
      '(voglio|esigo|pretendo|chiedo|vorrei|mi aspetto) .. (rimborso|soldi|sostituzione|risarcimento|sconto|scuse|riparazione|cambio)|(voglio|pretendo|esigo|vorrei) che|per iscritto|rimbors*|risarciment*|(disdire|annullare|cancellare) .. (contratto|abbonamento|ordine|account)|parlare con .. (responsabile|supervisore|direttore)|sostituzione|restitu*',
    solution:
      '(ho|abbiamo) .. (sistemato|risolto|riavviato|sostituito|rimborsato|corretto|riparato|cambiato|aggiornato)|(ora|adesso) funziona|funziona (ora|adesso|di nuovo|bene)|è (risolto|sistemato)|(posso|possiamo|vado a) (rimborsar*|sostituir*|inviar* .. nuov*|aprire un ticket|risolvere|sistemare|accreditar*)|(le |ti |vi )(invio|inviamo|invieremo|spediamo|mando) .. (nuov*|sostitutiv*)|(ha|hai) (provato|già provato)|(provi|riavvii|spenga|scolleghi|prova a|riavvia|verifichi)|(ho|abbiamo) .. (annullato|sospeso|bloccato|registrato|aperto|accreditato)|(le |ti |vi )(posso |possiamo )?(offro|offriamo|offrire|accredito|accreditare)|la soluzione|(ticket|segnalazione)|(rimborser|sostituir)(emo|ò)',
    greeting: 'buongiorno|buonasera|buon pomeriggio|ciao|salve|benvenut*|grazie per (aver|la) (chiamato|chiamata)|pronto',
    introduction:
      "mi chiamo|il mio nome è|sono [^ ]+ (di|del|della|dell'|da|dalla)|parla con|[^ ]+ al telefono|(come|in cosa) (posso|la posso|ti posso) (aiutar*|essere)",
    verify:
      "(il suo|suo|il tuo|il) (numero (d' ordine|di (ordine|conto|cliente|contratto|telefono|pratica|serie)))|numero (d' ordine|di (ordine|cliente|contratto|telefono|pratica|polizza))|codice (cliente|fiscale|ordine)|data di nascita|nome e cognome|(il suo|suo) (indirizzo|cap|nome completo)|indirizzo e ?mail|(verificare|confermare|confermarmi|compitare) (il|la|l'|che|alcuni)|domanda di sicurezza",
    apology:
      'mi (dispiace|scuso|spiace)|ci (dispiace|scusiamo|spiace)|scus(a|i|ate|e)|chiedo scusa|perdon*|(la |ti |lo )?(capisco|comprendo)( perfettamente| la sua)?|immagino',
    anythingElse:
      "(qualcos'|qualcos' |qualche )(altro|altra|altra cosa)|(altre|altra|ulteriori) (domande|domanda)|posso aiutar* (con|in) altro|qualcosa d' altro|c' è altro|ha altre",
    thanks: 'grazie( mille| a lei| a te| tante)?|la ringrazio|ti ringrazio|vi ringrazio|ringraziamo|apprezzo|grat(o|a)',
    farewell:
      'arrivederci|arrivederla|a (presto|domani|dopo|risentirci|lunedì|venerdì)|(buona|buon) (giornata|serata|settimana|fine settimana|weekend|lavoro)|alla prossima|ci sentiamo|stammi bene',
    money:
      "budget*|prezz*|cost(o|i|a|ano|are)|quanto (costa|viene)|euro|dollar*|[$€£]|(al|per) (mese|anno|utente)|all' anno|sconto|sconti|fattur*|pag(are|o|hiamo|ato|amento|amenti)|caro|cara|costos*|economic*|stipendi*|tariff*|mila|mille|milion*|preventivo",
    authority:
      '(il mio|il nostro|la mia|la nostra|mio|nostro|il|la) (capo|direttore|direttrice|amministratore|responsabile|direzione|consiglio|ufficio acquisti|ufficio legale|socio|socia|comitato|titolare)|chi decide|(decido io|decide|decidono|prende la decisione|prendo la decisione|ultima parola)|(devo|dobbiamo|deve) .. (chiedere|consultare|parlare* con|sentire|approvare)|approvazione|approvare|autorizza*|firma',
    need: '(abbiamo bisogno|ho bisogno|cerchiamo|cerco|vogliamo|vorremmo|ci serve|ci servono|mi serve|ci occorre|necessitiamo)|(stiamo|sto) cercando|(la nostra|la mia|nostra) (esigenza|necessità|difficoltà)|(il nostro|il mio|nostro) (obiettivo|requisito|bisogno)|a mano|manualmente|sarebbe (utile|bello|ideale|bene)|perdiamo|ci manca',
    competition:
      'concorren*|(altro|altra|altri|diverso) (fornitore|strumento|soluzione|sistema|azienda|offerta|fornitori)|(fornitore|strumento|sistema|soluzione) attuale|(rispetto|in confronto) (a|al|alla)|alternativ*|invece di|(cambiare|passare da) [^ ]+|excel|fogli(o)? di calcolo|(usiamo|lavoriamo con|utilizziamo) (attualmente|adesso|oggi|ora)',
    done: '(ho|abbiamo|ha) (già |appena )?(finito|terminato|fatto|completato|corretto|inviato|scritto|testato|aggiornato|rivisto|lavorato|pubblicato|rilasciato|chiuso|implementato|iniziato|parlato|preparato|aggiunto|sistemato)|ieri|(è|sono) (pront*|finit*|fatt*|completat*|online)|la settimana scorsa|settimana scorsa',
    positive:
      '(è andat*|sono andat*|funziona|ha funzionato|va|procede) (molto |piuttosto |davvero )?(bene|meglio|benissimo)|(molto |davvero )?(content*|soddisfatt*|felic*|orgoglios*)|(buon|ottimo|bel|eccellente|buona|ottima|bella) (lavoro|risultato|progresso|idea|atmosfera|comunicazione|collaborazione|squadra)|(mi|ci) (è|sono) piaciut*|(ci|mi) ha aiutato|migliorat*|successo|più velocemente|in tempo|puntual*',
    idea: "(potremmo|possiamo|dovremmo|potresti|potrebbe) .. (provare|iniziare|usare|fare|migliorare|aggiungere|introdurre|automatizzare|cambiare|avere)|(che ne dici|che ne dite|e) se|perché non|(la mia|un'|una|l') (idea|proposta)|(un|il mio) suggerimento|(propongo|suggerisco|consiglio|raccomando)|la prossima volta|sarebbe meglio|magari (potremmo|dovremmo)|miglioramento*|miglioramenti",
    feedback:
      'feedback|riscontro|(hai|ha) .. (gestito|fatto|migliorato) .. (bene|meglio|benissimo)|(buon|ottimo|bel) lavoro|(potresti|dovresti|puoi|potrebbe) (migliorare|delegare|comunicare|parlare|essere)|ho notato|apprezzo|punt(o|i) (forte|debole|di forza|deboli|forti)',
    goal: "obiettiv*|traguard*|(voglio|vorrei|mi piacerebbe|spero di) (imparare|crescere|migliorare|guidare|sviluppare|diventare|essere|lavorare|assumere)|carriera|promozione|formazione|corso|corsi|certifica*|lungo termine|entro (la )?fine (dell' )?anno|piano di sviluppo",
    wellbeing:
      'come (stai|sta|ti senti|si sente|va|ti trovi)|carico di lavoro|(sono|mi sento) .. (stanc*|stressat*|sovraccaric*|esaust*|motivat*|content*|bene|male|malat*)|sto (bene|male|meglio)|ferie|vacanze|straordinari*|troppo lavoro|equilibrio|stress',
    experience:
      '(ho|abbiamo) (lavorato|guidato|gestito|sviluppato|progettato|studiato|diretto|usato|coordinato)|sono stat* (responsabile|incaricat*)|ann(i|o) (di esperienza|come|in|presso)|(il mio|la mia|nel mio|nella mia) (ultim*|precedente|attuale|prim*) (lavoro|impiego|ruolo|azienda|progetto)|(laurea|master|università|diploma|laureat*)|responsabile (di|del|della)|esperienza (con|in|come|di|nel|nella)|competenze|capacità|conoscenze',
    motivation:
      'perché (vuole|vuoi|le interessa|ti interessa)|(mi interessa|mi attrae|mi motiva|mi appassiona)|sono (interessat*|motivat*|appassionat*)|(cerco|sto cercando) [^ ]+|nuov(o|a) (sfida|ruolo|opportunità|esperienza)|(disponibile|iniziare|cominciare) (da|dal|a partire|in|subito|immediatamente)|aspettativ* (economic*|salarial*)|preavviso',
    definition:
      "(si chiama|si chiamano|si definisce|significa|si riferisce a|consiste in|chiamiamo|intendiamo per|parliamo di|vuol dire|è dett*|è not* come)|definizione|(che )?cos' è|cosa (è|sono)|(è|sono) (un|una|il|la|uno) [^ ]+ (che|di|dove|in cui)|sono [^ ]+ che",
    example: 'per esempio|ad esempio|un esempio|immagin*|suppon*|prendiamo|consideriamo|come nel caso|tra cui|inclus*',
    symptom:
      'dolor*|fa male|fanno male|mal di [^ ]+|febbre|tosse|vertigin*|capogir*|nausea|vomit*|stanchezza|stanc*|debol*|gonfi*|eruzione|prurito|fiato corto|mancanza di respiro|non (riesco a )?dormo|non riesco a dormire|insonnia|sanguin*|allergi*|sintom*|da (ieri|due|tre|quattro|una|un|qualche|[0-9]+) (giorni|settimane|settimana|mesi|mese|giorno)|da ieri',
    finding:
      'pressione( arteriosa)?|polso|frequenza|temperatura|peso|[0-9]+ (su|e) [0-9]+|gradi|radiografia|raggi|risonanza|tac|ecografia|elettrocardiogramma|esam(e|i)|analisi|visita|(polmoni|cuore|gola|orecchie|addome) .. (liber*|normal*|ross*|bene|puliti)|saturazione|milligrammi|risultat*',
    assessment:
      '(sembra|pare|fa pensare)( (che|a|un*))?|probabilmente|(penso|credo|sospetto) (che )?(sia|abbia|si tratti)|diagnos*|compatibile con|sospett*|infezione|infiammazione|indica|suggerisce|escludere|niente di grave',
    treatment:
      'prescriv*|ricetta|(prenda|prendere|applichi|prendi) .. (compress*|pastigli*|medicin*|gocce|crema|volte|ore|giorni|antibiotic*|ibuprofene|paracetamolo|tachipirina)|antibiotic*|ibuprofene|paracetamolo|tachipirina|compress*|pastigli*|medicin*|farmac*|iniezione|vaccin*|(torni|tornare|ritorni) .. (settimana|settimane|giorni|se)|specialista|riposo|ripos*|beva|fisioterapia|intervento|operazione|trattamento|terapia|cura|esami del sangue|milligrammi',
    claim:
      '(lui|lei|loro|io|noi|ha|hanno|abbiamo|ho) (detto|dichiarato|affermato|promesso|firmato|rifiutato|negato|ammesso|riconosciuto|visto|pagato|ricevuto|confermato)|contratt*|accord(o|i)|prov(a|e)|testimon*|secondo|responsabilità|dann(o|i)|denuncia|tribunale|giudice|clausol*|document*|polizia|incidente|assicurazion*|inadempi*|lettera|controversia|causa',
  },
  questions:
    "che|cosa|che cosa|perché|come|quando|dove|chi|quale|quali|quanto|quanta|quanti|quante|puoi|può|potresti|potrebbe|hai|ha|c' è|è possibile|vuole|vuoi",
  stop: `a abbastanza abbia abbiamo accordo adesso agli ai al alcuna alcune alcuni all alla alle allo allora altra altre altri altro anche ancora andare anni anno appena aveva avevamo avevano avere
avete basta bella bello bene bisogna bravo buona buono buongiorno c capito caso casa c'è certo che chi chiaro ci ciao ciò cioè circa cui col come comunque con contro cosa così cose d da dagli dai
dal dall dalla dalle dallo davvero de degli dei del dell della delle dello dentro detto deve devo di dice dici dico dire diverse diverso dobbiamo domani dopo dove dovrebbe due dunque e è ecco ed
effettivamente ero era erano esatto essere fa faccio facciamo fanno far fare fatto favore fin fine fino forse fra fu fuori gente già giorni giorno giusto gli gran grande grandi grazie ha hai hanno
ho i ieri il in infatti insieme insomma intanto invece io l la là le lei li lì lo loro lui lunedì martedì mercoledì giovedì venerdì sabato domenica ma magari mai male me meglio meno mentre mese mesi
mette mettere mi mia mie miei migliore mila mio modo molta molte molti molto momento ne né nei nel nell nella nelle nello nessun nessuna nessuno niente no noi non nostra nostre nostri nostro nulla
nuova nuove nuovi nuovo o oggi ogni ok oppure ora ore ormai parla parlare parte pensare penso per perché perciò però persone persona piccolo più po poco poi possa possiamo posso possono poteva
potrebbe potere prego presso prima primo prossima prossimo proprio punto può puoi pure qua quale quali qualche qualcosa qualcuno quando quanta quante quanti quanto quasi quel quella quelle quelli
quello quest questa queste questi questo qui quindi quindici rispetto s sa salve sapere sappiamo sarà sarebbe sarei se sé secondo sei sembra sempre sennò senza sera si sì sia siamo siano siete signor
signora so sola solito solo soltanto sono sopra soprattutto sotto spesso sta stai stanno stare stata state stati stato stessa stesse stesso sto stiamo su sua subito sue sugli sui sul sull sulla sulle
suo suoi t tale tanta tante tanti tanto te tempo ti tipo tra tre troppo trovare tu tua tue tuo tuoi tutta tuttavia tutte tutti tutto ultima ultimo un una uno usare v va vabbè vado vai vanno vari varie
vedere vediamo vero verso vi via voglio vogliamo voi volta volte vorrei vostra vostro vuoi vuole eh ehm mah beh allora settimana settimane mattina pomeriggio ah domanda inviare bisogno certamente
cominciare andiamo fosse stavo capisco senta guardi dicevo sentito quattro cinque`,
  determiners:
    "il lo la i gli le l' un uno una del della dei delle dello dell' degli al alla ai alle nel nella nei nelle sul sulla mio mia nostro nostra suo sua questo questa questi di in con per su senza nuovo nuova ogni altro altra",
  names: {
    introductions: [
      'mi chiamo NAME',
      'il mio nome è NAME',
      "sono NAME,? (?:di|del|della|dalla|e sono|il|la|dell['’]\\p{L}+)(?= |,)",
      'NAME al telefono',
      'parla NAME(?=[.,!?;]|$)',
      '(?:parla|parlando|parlare) con NAME(?=[.,!?;]|$)',
    ],
    addresses: 'ciao|grazie|grazie mille|buongiorno|buonasera|salve|benvenuto|benvenuta|arrivederci|scusa|scusi|caro|cara|piacere',
    never:
      'Tutti Tutte Signore Signora Signori Dottore Dottoressa Ragazzi Squadra Lunedì Martedì Mercoledì Giovedì Venerdì Sabato Domenica Dio Sì No E Ma Allora Lei A Per Io Mamma Papà Altrettanto Mille',
    titles: 'Signor|Signora|Sig\\.?|Sig\\.ra|Dott\\.?|Dott\\.ssa|Dottor|Dottoressa|Professor|Professoressa|Ingegner|Avvocato',
  },
};

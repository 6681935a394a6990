import type { Language } from './cue.ts';

const DO =
  '(envoy*|enverr*|prépar*|écri*|rédig*|vérifi*|appel*|rappel*|demand*|mettre à jour|mets à jour|partag*|réserv*|planifi*|organis*|cré(er|e)|fai(re|s)|fer(ai|ons)|termin*|finir|trouv*|command*|test*|ajout*|contact*|invit*|sign*|pay*|confirm*|occup*|rassembl*|compar*|corrig*|regard*|présent*|parl*|inform*|transmet*|transf*|renvoy*|renverr*|livr*|document*|rembours*|remplac*|chang*|relanc*|relir*|fix*|not(er|e)|prévoi*|prend(re|s) (contact|rendez)|examin*|recontact*|cherch*|confi(er|e)|délégu*|inscri*|bloqu*)';

export const fr: Language = {
  elision: true,
  phrases: {
    task: `(je|on|nous) (vais|va|allons|dois|devons|doit|veux bien|peux) (vous |te |lui |leur |l' |le |la |les |m' |me |en |essayer de |donc |aussi )?${DO}|je (te|vous|lui|leur) l' (envoie|enverrai|apporte|apporterai|amène|fais)|(tu|vous) (me|nous|lui|leur) (prépar*|envo*|fais|faites|rappel*|donne*)|(tu peux|vous pouvez) (t'|vous) inscrire|j' (enverrai|enverrais|écrirai|appellerai|organiserai)|je (vous |te |lui |leur |le |la |les |m' en |m' )?(envoie|enverrai|prépare|préparerai|rappelle|rappellerai|ferai|vérifierai|vérifie|finirai|transmets|confirmerai|contacterai|regarderai|rédigerai)|(il faut|il faudra|il faudrait|il reste à) ${DO}|(peux tu|pouvez vous|pourriez vous|pourrais tu|tu peux|vous pouvez|tu pourrais|vous pourriez) (me |nous |lui |leur |s' il te plaît |s' il vous plaît )?${DO}|merci de (m'|me|nous) [^ ]+|(n' oublie(z)? pas|pense(z)? à) [^ ]+|[^ ]+ (va|doit) ${DO}|je m' en (occupe|charge)|(est|sont) (chargée?s?|responsables?) de|à faire|tâche*|(tu|vous) (dois|devez|devras|devrez) ${DO}`,
    decision:
      "(on a|nous avons|j' ai|ils ont) .. (décidé|convenu|choisi|validé|tranché|acté|retenu)|on (décide|part sur|garde|reste sur|choisit|reporte|annule|prend|valide)|nous (décidons|partons sur|gardons|restons sur|choisissons|reportons|annulons|prenons|validons)|(la|notre) décision (est|a été|finale)|(c' est|est|a été|sont) (décidée?|validée?|acté|approuvée?|entendu|convenu)s?|d' accord pour|marché conclu|allons y|on fait comme ça|on y va avec|on ne (va|fera) pas",
    objection:
      "trop (cher|chère|compliqué|lent|risqué|long|tard|élevé|juste)|(je|nous|on) (suis|sommes|est) .. (inquiet|inquiète|inquiets|sceptique|sceptiques|réticent|pas sûr|pas sûre|pas sûrs|pas convaincu|pas convaincue|pas convaincus)|(m'|nous|me) (inquiète|inquiètent|préoccupe|fait peur)|(ma|notre|la) (crainte|préoccupation|inquiétude|réserve)|(on|nous|j') (a|avons|ai|utilise|utilisons|travaille|travaillons) (déjà|actuellement)|(pas|plus) (besoin|le budget|de budget|les moyens|une priorité|le bon moment|intéressée?s?)|hors (de )?(notre )?budget|moins cher*|(besoin|faut|dois|devons) .. réfléchir|et si [^ ]+|je doute|difficile à (justifier|vendre)|je ne vois pas",
    nextStep:
      'prochaines? étapes?|(prendre|fixer|planifier|caler|organiser|prévoir) .. (rendez vous|réunion|appel|démo|point)|(on|nous) (se|nous) (revoit|rappelle|reparle|retrouve|voit|revoyons|rappelons|retrouvons)|(je|nous) (vous|te) (recontacte|recontacterai|rappelle|rappellerai|tiens au courant)|(je|nous) (reviens|revenons|reviendrai) vers|(envoie|enverrai|envoyons) .. (proposition|contrat|offre|devis|facture|invitation|résumé|lien|compte rendu)|la suite|on reste en contact|restons en contact|le plan est',
    deadline:
      "(d' ici|avant|pour|jusqu' à|jusqu' au|dès|ce|le) (le )?(lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|demain|midi|ce soir|noël|la fin|fin|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)|(lundi|mardi|mercredi|jeudi|vendredi) (prochain|matin|soir|après midi)|(la )?semaine prochaine|cette semaine|(le )?mois prochain|ce mois ci|l' année prochaine|(fin|début|mi) (de |du |d' )?(semaine|mois|trimestre|année|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)|(dans|sous|d' ici) (un|une|deux|trois|quatre|cinq|six|quinze|[0-9]+) (jours?|semaines?|mois|ans|heures)|délai*|échéance*|date limite|demain|dès que possible|lundi|mardi|mercredi|jeudi|vendredi|au plus vite|(premier|deuxième|troisième|quatrième) trimestre|en (janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)",
    important:
      "(le |la |les )?plus importante?s?|(très |vraiment )?importante?|(l' )?essentiel|(le|la|l') (point|idée|question|raison|message|problème|enjeu) (principale?|clé|centrale?|essentielle?)|en (résumé|conclusion|bref|somme|d' autres termes)|pour (résumer|conclure)|autrement dit|au final|avant tout|surtout|il s' agit de|le résultat|rappelez vous|retenez|n' oubliez pas que|ce qui compte",
    opinion:
      "je (pense|crois|trouve|sens|espère|souhaite|rêve|déteste|veux)|j' (aime|adore|espère|ai appris)|à mon (avis|sens)|selon moi|pour moi|(honnêtement|franchement|sincèrement)|la vérité|(jamais|toujours)|(le|la) (meilleure?|pire)|(incroyable|formidable|magnifique|fière?)",
    problem:
      "(ne )?(marche|fonctionne|fonctionnent|démarre|charge|s' ouvre|répond|s' allume) (plus|pas|toujours pas)|(n' est|ne sont) (toujours )?pas (arrivée?s?|livrée?s?)|(cassée?|en panne|abîmée?|défectueux|défectueuse|endommagée?)|(le|un|notre|mon|gros|autre|principal) (problème|souci|bug|retard|défaut)|(des|les) (problèmes|soucis|bugs|erreurs|retards)|une erreur|problème* avec|(plante|planté|bloquée?s?|bloque|blocage|échoué|manque|manquent|en retard|retard)|(j' attends|nous attendons|j' attendais)|toujours (pas|rien)|pas encore|(mécontente?|déçue?|frustrée?|agacée?|énervée?|inadmissible|inacceptable|scandaleux|en colère|catastrophique)|ce qui (me|nous) (pèse|gêne|dérange|bloque|fatigue)|(c' est|est|était) (fausse?|faux|incorrecte?|trop élevée?)|(jamais|pas) (reçue?|passée?|arrivée?)|mal (passé|fonctionné)|(facturée?|prélevée?|débitée?) deux fois|personne .. (rappelé|répondu)|(peux|peut|pouvons|arrive|pouvais) (pas|plus) .. (connecter|accéder|ouvrir|utiliser)|difficile*|trop lent|trop de temps|plainte*|réclamation*|plaindre",
    remedy:
      "(je veux|je souhaite|j' exige|j' attends|je demande|je voudrais|j' aimerais) .. (remboursement|rembours*|remplacement|dédommagement|remise|geste|excuses|réparation|échange)|(je veux|j' exige|je voudrais) (que|qu'|quelqu')|par écrit|rembours*|dédommag*|geste commercial|résilier*|annuler (mon|ma|le|la) (contrat|abonnement|commande|compte)|parler à .. (responsable|supérieur|manager)|remplacement|échanger",
    solution:
      "(j' ai|nous avons|on a) .. (réparé|corrigé|résolu|réglé|redémarré|réinitialisé|remplacé|remboursé|modifié|mis à jour)|(marche|fonctionne) (maintenant|de nouveau|à nouveau)|(je|nous|on) (vais|allons|va) (vous )?(rembourser|remplacer|envoyer un nouve*|ouvrir un ticket|régler|corriger|réparer|créditer)|(j' ai|nous avons|on a) .. (annulé|suspendu|bloqué|crédité|enregistré|ouvert)|(je|nous|on) (peux|peut|pouvons|vais|allons) vous (offrir|proposer|créditer|envoyer)|avez vous (essayé|redémarré|vérifié)|(essayez|redémarrez|débranchez|réinitialisez|vérifiez)|la solution|ticket|(est|c' est) (résolu|réglé|corrigé)|(rembours|remplac)(erons|erai)",
    greeting: "bonjour|bonsoir|salut|bienvenue|merci (d' avoir appelé|de votre appel|pour votre appel)|coucou",
    introduction:
      "je m' appelle|mon nom est|[^ ]+ à l' appareil|(c' est|ici) [^ ]+ (de|du|à|chez)|je suis [^ ]+ (de|du|chez)|(comment|que|en quoi) (puis je|je peux) .. (aider|faire)",
    verify:
      "(votre|ton|le) (numéro de (commande|client|compte|contrat|téléphone|dossier|série|facture))|numéro de (commande|client|compte|contrat|dossier|téléphone)|date de naissance|(votre|vos) (nom complet|nom et prénom|adresse|code postal|prénom)|adresse e ?mail|(vérifier|confirmer|épeler) (votre|vos|que|le|l')|question de sécurité",
    apology:
      "désolée?s?|excuse*|pardon|je (vous |te )?(comprends|présente mes excuses)|je comprends( (tout à fait|bien|votre))?|navrée?|nous (regrettons|nous excusons)|je regrette|j' imagine",
    anythingElse: "(autre chose|d' autres questions|une autre question)|(avez vous|vous avez|y a t il) .. (questions?|autre)",
    thanks: "merci( beaucoup| bien| à vous| infiniment)?|je vous remercie|je te remercie|reconnaissante?|j' apprécie",
    farewell:
      "au revoir|(bonne|belle) (journée|soirée|semaine|fin)|bon (week end|après midi)|à (bientôt|demain|plus|tout à l' heure|la prochaine|lundi|mardi|mercredi|jeudi|vendredi)|prenez soin|salut",
    money:
      'budget*|prix|coût*|coûte*|combien|euro*|dollar*|[$€£]|par (mois|an|utilisateur|licence)|remise*|rabais|facture*|pay(er|ez|ons|é|e)|paiement*|cher|chère|tarif*|salaire|rémunération|frais|mille|million*|devis',
    authority:
      "(mon|notre|le|ma|la) (chef|patron|patronne|directeur|directrice|direction|manager|pdg|daf|comité|conseil|service achats|service juridique|associée?|responsable)|qui décide|(je décide|décide seul|décideur|décideurs|prend la décision|prends la décision|dernier mot)|(je dois|nous devons|il faut|faudra) .. (demander|consulter|valider|convaincre|en parler|l' accord)|validation|approbation|signature|feu vert",
    need: "(nous|on|j'|je) (avons besoin|a besoin|ai besoin|cherchons|cherche|voulons|veut|souhaitons|voudrions|aimerions|aimerait)|à la recherche de|(notre|mon|le|nos) (besoin|besoins|objectif|objectifs|défi|exigence|exigences|difficulté|difficultés)|à la main|manuellement|ce serait (bien|utile|idéal)|il nous (faut|faudrait|manque)|on perd|nous perdons",
    competition:
      "concurren*|(autre|autres) (fournisseur|prestataire|outil|solution|système|offre|société)s?|(fournisseur|prestataire|outil|solution|système) actuel(le)?|par rapport à|comparée? à|alternative*|au lieu de|changer de|excel|tableurs?|(utilisons|utilise|travaillons) (actuellement|aujourd' hui)",
    done: "(j' ai|nous avons|on a|a) (déjà |bien )?(terminé|fini|fait|complété|corrigé|envoyé|écrit|testé|mis à jour|relu|travaillé|déployé|publié|livré|clôturé|implémenté|commencé|parlé|préparé|ajouté)|hier|(est|c' est|sont) (prête?s?|terminée?s?|finie?s?|faite?s?|en ligne)",
    positive:
      "(s' est|se sont|ça s' est) (très |plutôt )?bien (passé*|déroulé*)|(marche|fonctionne|marché|fonctionné|avance) (très |plutôt )?(bien|mieux)|(très |vraiment )?(contente?s?|satisfaite?s?|heureux|heureuse|fiers?|ravie?s?)|(bon|beau|excellent|super|bonne|bel) (travail|résultat|esprit|progrès|idée|ambiance|collaboration|communication)|(m'|nous|j' ai) (a |ont )?(plu|aimé|aidé|apprécié)|amélioré|succès|réussi*|plus (vite|rapide) que|à temps|dans les temps",
    idea: "(on|nous|tu|vous) (pourrait|pourrions|devrait|devrions|pourrais|pourriez) .. (essayer|commencer|utiliser|faire|améliorer|ajouter|introduire|automatiser|changer|avoir|prévoir|mettre)|(et )?si on|pourquoi ne pas|(mon|une|l') (idée|suggestion|proposition)|je (propose|suggère|recommande)|la prochaine fois|ce serait (mieux|bien)|peut être (qu' on|que nous|faudrait)|amélioration*|il faudrait",
    feedback:
      "feedback|retour*|(tu as|vous avez) .. (bien|mieux|très bien)|(bon|excellent|beau|super) travail|(tu pourrais|vous pourriez|tu devrais|vous devriez) [^ ]+|j' ai (remarqué|apprécié)|points? (forts?|faibles?)|axes? d' amélioration|force*|faiblesse*",
    goal: "objectif*|(je (veux|voudrais|souhaite)|j' aimerais|j' espère) .. (apprendre|progresser|évoluer|améliorer|diriger|développer|devenir|prendre)|carrière|promotion|formation*|cours|certification*|à long terme|d' ici (la )?fin (de l' année|d' année)|plan de développement|évolution",
    wellbeing:
      'comment (vas tu|allez vous|ça va|tu te sens|vous sentez vous|tu vas)|ça va|charge de travail|(je suis|je me sens) .. (fatiguée?|stressée?|débordée?|épuisée?|motivée?|contente?|bien|malade|surchargée?)|vacances|congés?|heures sup*|trop de travail|équilibre|stress',
    experience:
      "(j' ai|je suis) (travaillé|dirigé|géré|développé|conçu|étudié|encadré|été responsable|été en charge|utilisé)|(ans|années|an) (d' expérience|comme|en tant que|dans|chez)|(mon|ma) (dernier|dernière|précédent|précédente|premier|première) (emploi|poste|entreprise|projet|mission)|poste actuel|(licence|master|diplôme|université|école)|responsable de|en charge de|expérience* (avec|en|dans|comme|de)|compétences|connaissances",
    motivation:
      "pourquoi (voulez vous|souhaitez vous|veux tu|avez vous|êtes vous)|(m' intéresse|m' attire|me motive|me passionne)|je suis (intéressée?|motivée?|passionnée?|à la recherche)|je (cherche|recherche|postule)|nouveau (défi|poste|challenge)|nouvelle (opportunité|aventure)|préavis|prétentions salariales|(disponible|commencer) (à partir|dès|le|en|immédiatement|tout de suite)",
    definition:
      "(s' appelle|s' appellent|est appelée?|signifie|désigne|se définit|consiste à|veut dire|on appelle|on entend par|on parle d(e|'))|définition|qu' est ce que|c' est quoi|(est|c' est) (un|une|le|la) [^ ]+ (qui|que|où|dont|de|d')|sont des [^ ]+ (qui|que)",
    example: 'par exemple|un exemple|imagin*|suppos*|prenons|considérons|tels? que|telles? que|notamment|comme (par exemple|le cas)',
    symptom:
      "douleur*|mal (au|à la|à l'|aux|de)|fièvre|toux|tousse|vertige*|nausée*|vomi*|fatigue*|fatiguée?|faible*|gonflée?s?|gonflement|éruption|démange*|essoufflée?|du mal à (respirer|dormir)|insomnie*|saigne*|allergi*|symptôme*|depuis (hier|deux|trois|quatre|une|un|quelques|lundi|[0-9]+)( jours| semaines| mois)?",
    finding:
      'tension( artérielle)?|pouls|fréquence|température|poids|[0-9]+ (sur|virgule|points?) [0-9]+|degrés|radio(graphie)?|irm|scanner|échographie|électrocardiogramme|prise de sang|analyses?|examen|auscult*|(poumons|coeur|cœur|gorge|oreilles|ventre) .. (claire?s?|normale?|normaux|rouge)|saturation|milligrammes|résultat*',
    assessment:
      "(on dirait|ça ressemble|cela ressemble|il s' agit (probablement )?d')|probablement|sans doute|je (pense|crois|soupçonne) que (c' est|vous avez)|diagnosti*|compatible avec|suspicion|infection|inflammation|indique|suggère|écarter|rien de grave",
    treatment:
      'prescri*|ordonnance|(prenez|prendre|appliquez) .. (comprimé*|cachet*|médicament*|gouttes|crème|fois|jours|antibiotique*|paracétamol)|antibiotique*|ibuprofène|paracétamol|doliprane|comprimé*|médicament*|injection|vaccin*|(revenez|revoir) .. (semaine|jours|si)|orienter|spécialiste|repos|reposez|buvez|kiné*|opération|chirurgie|traitement|thérapie|prise de sang|milligrammes',
    claim:
      "(il|elle|ils|nous|je|j') (a|ont|avons|ai) (dit|déclaré|affirmé|promis|signé|refusé|nié|admis|reconnu|vu|payé|reçu)|contrat*|accord|preuve*|témoin*|selon|responsabilité|dommage*|plainte|tribunal|juge|clause*|document*|police|accident|assurance*|manquement|courrier|litige*",
  },
  questions:
    "que|quoi|qui|quand|où|comment|pourquoi|combien|quel|quelle|quels|quelles|est ce que|qu' est ce|pouvez vous|peux tu|avez vous|as tu|êtes vous|es tu|y a t il|voulez vous|pourriez vous",
  stop: `abord bof salut ensuite a afin ah ai aie ainsi alors après assez au aucun aucune aujourd aujourd'hui auquel aussi autant autre autres aux avaient avais avait avant avec avez aviez avoir avons ayant beaucoup bien bon
bonne bonnes bons bonjour bref c ça car ce ceci cela celle celles celui cent certain certaine certains ces cet cette ceux chaque chez chose choses ci combien comme comment contre côté coup d dans de
debout dedans dehors déjà demain depuis dernier dernière derrière des dès deux devant devez devons devrait dire dis disait disent dit dois doit doivent donc dont du e effectivement elle elles en
encore enfin ensemble ensuite entre envers environ es est et étaient étais était étant été être eu eux exactement exemple fais faire faisait fait faites fallait faudra faudrait faut fera fois font
gens grand grande grands gros hein heure heures hier hors hui hum ici il ils j jamais jour jours jusqu jusque juste l la là laquelle le lequel les leur leurs lors lorsque lui m ma maintenant mais
mal malgré manière me même mêmes merci mes mettre mieux moi moins mois moment mon monde mot n ne ni niveau non nos notre nous nouveau nouvelle nouveaux nouvelles nul on ont or ou où oui par parce
pardon parfois parle parler part partie pas pendant pense penser personne personnes petit petite petits peu peut peuvent peux plein plupart plus plusieurs plutôt point possible pour pourquoi
pourrait pouvez pouvoir pouvons premier première prendre près presque prochain prochaine puis puisque qu quand quant que quel quelle quelles quelqu quelque quelques quels qui quoi quoique rien s sa
sais sait sans sauf se sera serait ses seul seule seulement si sien soi soient soit sommes son sont sorte sous souvent suis suite sur surtout t ta tant te tel telle tellement temps tes toi ton
toujours tous tout toute toutes très trop trouve trouver tu type un une va vais vas vers veut veux viens vient voilà voir voire vois voit vont vos votre voudrais voulais voulait vouloir vous vrai
vraiment vu y année années an ans semaine semaines matin soir lundi mardi mercredi jeudi vendredi samedi dimanche euh ben bah voyez savez question accord parlé monsieur madame besoin envoyer
trois quatre cinq façon sûr évidemment justement aimerais ok façons commencer`,
  determiners:
    "le la les l' un une des du de d' au aux mon ma mes notre nos votre vos son sa ses leur leurs ton ta ce cette ces en avec pour sur par sans chaque nouveau nouvelle autre quelques",
  names: {
    introductions: [
      "je m['’]appelle NAME",
      'mon nom est NAME',
      "NAME à l['’]appareil",
      "(?:c['’]est|ici) NAME,? (?:de|du|chez|à l['’]appareil)(?= )",
      'je suis NAME,? (?:de|du|chez|votre)(?= )',
      "moi,? c['’]est NAME(?=[.,!?;]|$)",
    ],
    addresses: 'bonjour|bonsoir|salut|merci|merci beaucoup|bienvenue|au revoir|enchanté|enchantée|chère|cher|pardon|désolé|désolée',
    never:
      'Monsieur Madame Mesdames Messieurs Mademoiselle Tous Toutes Docteur Dieu Lundi Mardi Mercredi Jeudi Vendredi Samedi Dimanche Oui Non Et Mais Alors Donc À Les Maman Papa Je Vous Nous Bonne Beaucoup',
    titles: 'Monsieur|Madame|Mme|M\\.|Mademoiselle|Dr\\.?|Docteur|Maître|Professeur',
  },
};

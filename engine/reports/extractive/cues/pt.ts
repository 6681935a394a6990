import type { Language } from './cue.ts';

const DO =
  '(envi*|mand*|prepar*|escrev*|redig*|verific*|revis*|lig(ar|o|ue)|telefon*|pergunt*|atualiz*|partilh*|compartilh*|reserv*|agend*|marc(ar|o|amos)|cri(ar|o)|faz(er)?|termin*|acab(ar|o)|descobr*|ped(ir|e)|test*|adicion*|organiz*|contat*|contact*|convid*|sub(ir|o)|assin*|pag(ar|o|ue)|confirm*|trat(ar|o)|cuid*|recolh*|compar*|corrig*|arrum*|olh(ar|o)|apresent*|coorden*|fal(ar|o)|inform*|avis*|entreg*|document*|solicit*|encaminh*|reencaminh*|troc*|devolv*|complet*|investig*|procur*|provid*|resolv*|trag*|traz*|mostr*|implement*)';

export const pt: Language = {
  foreign: /[ñìòùèîû]/,
  phrases: {
    task: `(?<!não )(vou|vamos|vai) (te |lhe |vos |já |também )?${DO}|(tenho|temos|tem|tens) (de|que) ${DO}|(devo|devemos|deve|deveria|precis(o|amos|a)|é preciso|é necessário) (de )?${DO}|(podes|poderias|pode|poderia|consegue|consegues) (por favor |me |nos |lhe ){0,2}${DO}|por favor ${DO}|(eu )?(fico responsável|fico encarregado|trato disso|cuido disso|faço isso|assumo)|não (se esqueça|te esqueças|esqueça|esquecer)|(é|fica|ficou) (responsável|encarregad*) (por|de)|tarefa*|pendência*|(enviarei|mandarei|prepararei|ligarei|farei|escreverei|falarei|atualizarei|confirmarei)|eu (envio|mando|preparo|ligo|reviso|confirmo|atualizo|escrevo)`,
    decision:
      '(a gente |nós )?(decidimos|acordamos|combinamos|aprovamos|escolhemos|optamos por|concordamos|definimos)|(está|fica|ficou|foi) (decidid*|acordad*|aprovad*|combinad*|fechad*|definid*)|(a|nossa) decisão (é|foi|final)|vamos (com|ficar com|avançar com|seguir com|manter|adiar|cancelar)|ficamos com|(decidi|resolvi|resolvemos)|então (fazemos|seguimos|fica)|negócio fechado|não vamos|de acordo então|combinado',
    objection:
      '(muito|demasiado) (caro|cara|complicado|complicada|lento|lenta|arriscado|longo|tarde|alto)|(caro|cara|lento|complicado) demais|(me|nos) (preocupa|preocupam|assusta)|preocupa (me|nos)|(não )?(estou|estamos) .. (seguro|segura|seguros|convencido|convencida|convencidos|preocupado|preocupada|preocupados|certeza)|não (tenho|temos) (a )?(certeza|orçamento|tempo|interesse)|(minha|nossa|a) (preocupação|dúvida|principal dúvida)|já (temos|usamos|trabalhamos|tenho|uso)|não (precisamos|preciso|podemos pagar|há orçamento|é prioridade|é o momento|nos interessa|me interessa|vejo)|fora do (nosso )?orçamento|mais barato*|(temos|tenho|preciso|precisamos) (de|que)? ?pensar|e se (não|falhar)|duvido|difícil de (justificar|vender)',
    nextStep:
      '(próximo|próximos) passos?|(agendar|marcar|combinar) (uma|outra|a|um) (chamada|reunião|demonstração|demo|conversa|call|ligação)|(falamos|vemo nos|nos vemos|nos falamos|encontramo nos|voltamos a falar)|(envio|enviarei|mando|vou enviar|vou mandar|vou te enviar|vou lhe enviar) .. (proposta|contrato|oferta|orçamento|fatura|convite|resumo|link)|daqui para a frente|daqui em diante|(mantemos|ficamos em|mantenho) contato|ficamos em contacto|o plano é|entro em (contato|contacto)|dar seguimento',
    deadline:
      '(até|antes de|para|na|nesta|próxima|esta) (a |à |ao |o )?(segunda|terça|quarta|quinta|sexta|sábado|domingo)( feira)?|(até|antes de|para) (amanhã|o meio dia|ao fim|o fim|o final|ao final|dia [0-9]+|o dia)|em (janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro)|até (janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro)|(na |a )?(próxima|esta|nesta) semana|semana que vem|(no )?próximo (mês|ano|trimestre)|(mês|ano) que vem|(em|dentro de|daqui a) (um|uma|dois|duas|três|quatro|cinco|seis|[0-9]+) (dia|dias|semana|semanas|mês|meses|anos|horas)|prazo*|data limite|amanhã|o mais rápido possível|quanto antes|(fim|final|início) d(o|a|e)|(primeiro|segundo|terceiro|quarto) trimestre',
    important:
      '(o |a )?mais importante|(muito )?importante|o (principal|fundamental|essencial|que importa)|(a|o) (ideia|ponto|motivo|problema|razão|mensagem|questão) (principal|chave|central|fundamental)|em (resumo|conclusão|suma|outras palavras)|para (resumir|concluir)|ou seja|no final|acima de tudo|sobretudo|trata se de|o resultado|lembrem|tenham em conta|vale lembrar',
    opinion:
      '(eu )?(acho|penso|creio|acredito|sinto|espero|desejo|sonho)( (que|com|em))?|na minha (opinião|experiência)|para mim|(sinceramente|honestamente|francamente)|a verdade é|(nunca|sempre|jamais)|(o|a) (melhor|pior)|(incrível|maravilhos*|orgulhos*)|(aprendi|tenho aprendido)|(adoro|gosto|amo|quero)',
    problem:
      'não (funciona|funcionam|funcionava|funcionou|liga|carrega|abre|chegou|conecta|responde|serve|arranca)|(quebrad*|avariad*|estragad*|danificad*|defeituos*|partid*)|(o|um|outro|nosso|meu|grande|maior) (problema|erro|defeito|atraso|bug)|(os|uns|nossos|muitos|há|tivemos|temos|tenho) (problemas|erros|atrasos|bugs)|problemas? com|(falha|falhou|bloquead*|bloqueio|falta|faltam|atrasad*|atraso|travou|trava)|(estou|estamos|continuo) .. (à espera|esperando|aguardando|esperar)|ainda não|(insatisfeit*|desapontad*|decepcionad*|frustrad*|chatead*|irritad*|inaceitável|péssim*|terrível|absurdo)|correu mal|(está|é|era|estava) (errad*|incorret*)|nunca (chegou|chegaram|ligaram|recebi|recebemos)|deu errado|cobrad* (duas vezes|em duplicado|em dobro)|ninguém .. (ligou|respondeu|atendeu|retornou)|não (consigo|consegui|conseguimos) .. (entrar|acessar|aceder|abrir|usar|conectar)|difícil|lento demais|demorou (muito|demais|demasiado)|reclam*|queixa*',
    remedy:
      '(quero|exijo|espero|peço|preciso|queria|gostaria) .. (reembolso|dinheiro|devolução|substituição|compensação|indemnização|indenização|desconto|desculpas|reparação|troca)|(quero|exijo|preciso) que|por escrito|reembolso|devolução|devolvam|indenização|indemnização|compensação|cancelar (meu|o meu|a minha|minha|o|a) (contrato|assinatura|pedido|encomenda|conta)|falar com .. (supervisor|gerente|responsável)|substituição|trocar',
    solution:
      '(consertei|arrumei|resolvi|reiniciei|substituí|reembolsei|corrigi|reparei|alterei|atualizei|resolvemos|corrigimos)|já (funciona|está)|funciona (agora|bem|de novo)|está (resolvido|a funcionar|funcionando|arranjado)|(vou|vamos) (reembolsar|substituir|trocar|abrir um (chamado|ticket)|resolver|corrigir|creditar)|(vou|vamos) .. enviar .. (nov*)|(já )?(tentou|experimentou)|(tente|experimente|reinicie|desligue|verifique)|(cancelei|suspendi|anulei|registrei|registei|abri|creditei|cancelámos|cancelamos)|(posso|podemos|vou|vamos) (lhe |te )?(oferecer|creditar|registrar|registar|cancelar)|(ofereço|oferecemos) lhe|a solução|(ticket|chamado|protocolo)',
    greeting: 'bom dia|boa (tarde|noite)|olá|oi|bem vind*|obrigad* por ligar|obrigad* pelo (contato|contacto)|alô|estou sim',
    introduction:
      'meu nome é|o meu nome é|chamo me|me chamo|(aqui )?(é|fala) (o|a) [^ ]+ (da|do|de)|sou (o|a) [^ ]+ (da|do|de)|em que (posso|lhe posso) ajudar*|como (posso|lhe posso) ajudar*',
    verify:
      '(seu|o seu|teu|o) (número (do|da|de) (pedido|encomenda|conta|cliente|contrato|telefone|apólice))|número (do|da|de) (pedido|encomenda|conta|cliente|contrato|telefone|protocolo)|data de nascimento|nome completo|(seu|o seu) (endereço|cpf|nif|código postal|cep|e ?mail)|(sua|a sua) morada|(verificar|confirmar|soletrar) (o|a|seu|sua|alguns)|pergunta de segurança',
    apology:
      '(sinto|sentimos|lamento|lamentamos)( (muito|imenso|pel*|o|a))?|desculp*|perdão|peço desculpas?|(eu )?(entendo|compreendo)( perfeitamente| a sua| sua)?|imagino',
    anythingElse:
      '(mais )?alguma (coisa|dúvida|pergunta|questão)( mais)?|(algo|alguma coisa) mais|posso ajudar em mais|outra (dúvida|pergunta|questão)',
    thanks: '(muito )?obrigad*|agradeço|agradecemos|agradecid*|grat(o|a)',
    farewell:
      'adeus|tchau|até (logo|breve|amanhã|à próxima|a próxima|mais|segunda|sexta)|(tenha|tenham|tem) (um|uma) (bom|boa|ótim*)|(bom|boa) (fim de semana|resto|semana)|cumprimentos|cuide se',
    money:
      'orçamento*|preço*|cust*|quanto (custa|é|fica)|euro*|dólar*|reais|[$€£]|por (mês|ano|usuário|utilizador|licença)|ao (mês|ano)|desconto*|fatura*|pag(ar|o|amos|ou|amento|amentos)|caro|cara|barat*|salário*|tarifa*|mil|milhão|milhões',
    authority:
      '(meu|nosso|nossa|minha|o meu|a minha|o nosso|o|a) (chefe|diretor|diretora|gerente|ceo|direção|diretoria|conselho|departamento de compras|departamento jurídico|sócio|sócia|comitê|comité|dono)|quem decide|(eu decido|decide|decidem|toma a decisão|tomo a decisão|última palavra)|(tenho|temos|tem|preciso|precisamos) (de|que)? ?(consultar|perguntar|falar com|aprovar)|aprovação|aprovar|autoriza*|assinatura',
    need: '(precisamos|preciso|procuramos|procuro|queremos|gostaríamos|necessitamos|buscamos|faz nos falta)|(estamos|estou) (à procura|procurando|buscando)|(nossa|minha|a) (necessidade|meta|dificuldade)|(nosso|meu|o) (objetivo|requisito|desafio)|manualmente|à mão|seria (útil|bom|ideal|ótimo)|perdemos|nos falta|falta nos',
    competition:
      'concorr*|(outro|outra|atual|diferente) (fornecedor|ferramenta|solução|sistema|empresa|oferta)|(fornecedor|ferramenta|sistema|solução) atual|comparad* com|em comparação|alternativa*|em vez de|ao invés|mudar de|excel|planilha*|folha* de cálculo|(usamos|trabalhamos com|utilizamos) (atualmente|hoje|neste momento)',
    done: '(terminei|acabei|concluí|fiz|corrigi|enviei|escrevi|testei|atualizei|revisei|trabalhei|publiquei|fechei|implementei|comecei|falei|terminamos|fizemos|concluímos|enviamos|preparei|adicionei)|ontem|(está|estão|ficou) (pront*|feit*|concluíd*|terminad*)',
    positive:
      '(correu|foi|funcionou|vai|funciona|deu|saiu) (muito |bastante )?(bem|melhor|certo)|(muito )?(contente*|satisfeit*|feliz|felizes|orgulhos*)|(bom|ótimo|excelente|boa|ótima) (trabalho|resultado|progresso|ideia|ambiente|comunicação|equipa|equipe)|(gostei|gostamos|adorei|ajudou)|melhorou|melhoramos|sucesso*|mais rápido que|no prazo|a tempo',
    idea: '(podíamos|podemos|poderíamos|deveríamos|devíamos|poderia|podia) (tentar|começar|usar|fazer|melhorar|adicionar|introduzir|automatizar|mudar|ter|experimentar)|(que tal|e se)|por que não|porque não|(minha|uma|a) (ideia|proposta|sugestão)|(proponho|sugiro|recomendo)|(da|na) próxima vez|seria melhor|talvez (pudéssemos|devêssemos|possamos)|melhoria*',
    feedback:
      'feedback|retorno|(fizeste|fez|tens feito|tem feito) .. (bem|melhor|ótimo|excelente|bom)|(bom|excelente|ótimo) trabalho|(poderias|deverias|podes|podia|poderia) (melhorar|delegar|comunicar|falar|ser)|(notei|reparei|percebi|valorizo|aprecio)|ponto* (forte*|fraco*)',
    goal: 'objetivo*|meta*|(quero|queria|gostaria de|gostava de|espero) (aprender|crescer|melhorar|liderar|desenvolver|ser|chegar|trabalhar|assumir|evoluir)|carreira|promoção|formação|treinamento|capacitação|curso*|certifica*|longo prazo|até ao fim do ano|até o fim do ano|plano de desenvolvimento',
    wellbeing:
      'como (estás|está|você está|te sentes|se sente|vai|tens estado|vão)|carga de trabalho|(estou|sinto me|me sinto|ando) .. (cansad*|estressad*|stressad*|sobrecarregad*|motivad*|contente|bem|mal|doente)|férias|horas extras?|trabalho a mais|muito trabalho|equilíbrio|stress|estresse',
    experience:
      '(trabalhei|liderei|gerenciei|geri|desenvolvi|estudei|dirigi|fui responsável|coordenei|usei|projetei)|(tenho|há) .. (anos|experiência)|anos? (de experiência|como|em)|(meu|minha|o meu|a minha|no meu|na minha) (último|última|anterior|atual|primeiro|primeira)( (trabalho|emprego|cargo|empresa|projeto))?|(licenciatura|mestrado|graduação|universidade|faculdade|diploma)|responsável (por|pela|pelo)|experiência (com|em|como)|competências|habilidades|conhecimentos',
    motivation:
      'por que (quer|queres|você quer|se interessa)|porque (quer|queres|é que)|(me interessa|interessa me|atrai me|me atrai|me motiva|motiva me)|(estou|sou) (interessad*|motivad*|apaixonad*)|(procuro|busco)|nov(o|a) (desafio|cargo|oportunidade|etapa)|(disponível|começar) (a partir|desde|em|imediatamente|já)|pretensão salarial|expectativa* salaria*|aviso prévio',
    definition:
      '(chama se|se chama|define se|significa|refere se|consiste em|chamamos|entendemos por|falamos de|é conhecid* como|quer dizer)|definição|o que (é|são)|é (um|uma|o|a) [^ ]+ (que|de|onde|em)|são [^ ]+ que',
    example: 'por exemplo|um exemplo|imagin*|supon*|vamos supor|pensemos em|consideremos|tais como|inclui*',
    symptom:
      'dor|dores|dói|doem|febre|tosse|tontura*|tonto|tonta|náusea*|enjoo*|vomit*|vómito*|cansaço|cansad*|fraqueza|inchad*|inchaço|manchas|coceira|comichão|falta de ar|(não consigo|consigo) dormir|insónia|insônia|sangr*|alergi*|sintoma*|(desde|há|faz) (ontem|dois|duas|três|quatro|um|uma|uns|umas|[0-9]+)( dias| semanas| meses)?',
    finding:
      'pressão( arterial)?|tensão|pulso|frequência|temperatura|peso|[0-9]+ (por|sobre) [0-9]+|graus|raio ?x|radiografia|ressonância|tomografia|ecografia|ultrassom|eletrocardiograma|exame*|análise*|auscult*|(pulmões|pulmão|coração|garganta|ouvidos|abdómen|abdômen) .. (limp*|norma*|vermelh*|bem)|saturação|miligramas|resultado*',
    assessment:
      '(parece|aponta para)( (que|ser|uma?))?|provavelmente|(acho|suspeito|creio) que (é|tem|seja)|diagnóstic*|compatível com|suspeita*|infeção|infecção|inflamação|indica|sugere|descartar|nada grave',
    treatment:
      'receit*|prescrev*|(tome|tomar|aplique|use) .. (comprimido*|remédio*|medicamento*|gotas|creme|vezes|horas|dias|antibiótico*|ibuprofeno|paracetamol)|antibiótico*|ibuprofeno|paracetamol|comprimido*|remédio*|medicação|medicamento*|injeção|vacina|(volte|voltar|regresse) .. (semana*|dias|se)|encaminhar|especialista|repouso|descans*|beba|fisioterapia|cirurgia|tratamento|terapia|exame de sangue|análises ao sangue|miligramas',
    claim:
      '(ele|ela|eles|eu|nós) (disse|disseram|afirmou|prometeu|assinou|negou|admitiu|viu|pagou|recebeu)|(disse|disseram|afirmou|afirma|prometeu|prometeram|assinou|assinámos|assinamos|assinei|negou|admitiu|reconheceu|paguei|recebi)|contrato*|acordo*|prova*|testemunha*|segundo|responsabilidade|dano*|processo|tribunal|juiz|cláusula*|documento*|polícia|acidente|seguro|incumpri*|descumpri*|carta|disputa',
  },
  questions:
    'que|o que|por que|porque|como|quando|onde|quem|qual|quais|quanto|quanta|quantos|quantas|podes|pode|poderia|tens|tem|há|é possível|você pode',
  stop: `a à ah aí ainda além algo alguém algum alguma algumas alguns ali ambos amanhã ano anos antes ao aos apenas aquela aquelas aquele aqueles aqui aquilo as às assim até atrás através bastante bem boa
boas bom bons cá cada casa caso certa certo claro coisa coisas com como comigo conosco connosco contra cujo da dá daquele daqui dar das de dela delas dele deles demais dentro depois desde dessa
desse desta deste deve devem dever dia dias disse disso disto dito diz dizer do dois dos duas e é eh ela elas ele eles em embora enquanto então entre era eram essa essas esse esses esta está
estamos estão estar estas estava estavam este estes esteve estive estou eu falar faz fazem fazemos fazendo fazer feito fica ficar ficou foi fomos for fora foram forma fosse fui gente geral grande
grandes há hoje hora horas igual ir isso isto já jeito la lá lhe lhes lo logo lugar maior mais mal mas me meio melhor menos mês meses mesma mesmas mesmo mesmos meu meus mim minha minhas momento
muita muitas muito muitos na nada não nas nem nenhum nenhuma nessa nesse nesta neste ninguém no nos nós nossa nossas nosso nossos nova novas novo novos num numa nunca o obrigada obrigado oi ok olá
onde ontem os ou outra outras outro outros ora para parece parte passado pela pelas pelo pelos pensar pessoa pessoas perguntar pois ponto por porque porquê posso pouca pouco poucos pode podem
podemos poder podia poderia pra precisa preciso primeira primeiro próprio próxima próximo pude quais qual qualquer quando quanto quantos quase que quê quem quer querem queremos quero queria realmente
saber sabe sabem se sei seja sem semana semanas sempre sendo ser será seria sério seu seus si sido sim só sobre somos sou sua suas tá tal também tanta tanto tão te tem têm temos tempo tenha tenho
ter teu teus teve ti tinha tinham tipo tive toda todas todo todos trabalho trás três tu tua tudo um uma umas uns usar vai vamos vão vários vem ver verdade vez vezes você vocês vou eh hum né pronto
segunda terça quarta quinta sexta sábado domingo feira tarde noite manhã senhor senhora enviar gostaria gostava ideia acho estamos acordo maneira favor certeza questão nosso fim final`,
  determiners:
    'o a os as um uma uns umas do da dos das no na nos nas ao à aos às meu minha meus minhas seu sua nosso nossa nossos nossas este esta esse essa de em com por para sobre sem novo nova cada outro outra',
  names: {
    introductions: [
      '(?:o )?meu nome é NAME',
      'chamo-me NAME',
      'me chamo NAME',
      '(?:aqui )?(?:é|fala|quem fala é) (?:o |a )NAME',
      '(?:eu )?sou (?:o |a )NAME',
      'sou NAME,? (?:da|do|de)(?= )',
    ],
    addresses:
      'olá|oi|obrigado|obrigada|muito obrigado|muito obrigada|bom dia|boa tarde|boa noite|bem-vindo|bem-vinda|adeus|tchau|desculpe|desculpa|caro|cara',
    never:
      'Todos Todas Senhor Senhora Senhores Doutor Doutora Dona Pessoal Gente Equipa Equipe Segunda Terça Quarta Quinta Sexta Sábado Domingo Deus Sim Não E Mas Então Bem Você Por A O Eu Mãe Pai Muito Igualmente',
    titles: 'Senhora?|Sra?\\.?|Dona|Dra?\\.?|Doutora?|Professora?',
  },
};

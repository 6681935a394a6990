import type { Language } from './cue.ts';

const DO =
  '(env[ií]*|mand*|prepar*|escrib*|redact*|revis*|llam*|pregunt*|actualiz*|compart*|reserv*|program*|agend*|cre(ar|o|e)|hacer|hago|termin*|averigu*|ped(ir|iré)|pido|prob*|prueb*|organiz*|contact*|invit*|sub(ir|o|iré)|firm*|pag*|confirm*|encarg*|ocup*|recog*|compar*|arregl*|mir*|present*|coordin*|habl*|inform*|avis*|mover|entreg*|document*|solicit*|reenv*|cambi*|devolv*|verific*|complet*|investig*|busc*|gestion*|tramit*|trae*)';

export const es: Language = {
  foreign: /[àèìòùçãõâêô]/,
  phrases: {
    task: `(?<!no )(voy|vamos|va) a ${DO}|(te|le|les|os|se lo|te lo) (enví*|mand*|prepar*|llam*|confirm*|avis*|pas*|compart*)|(tengo|tenemos|tienes|tiene|tienen) que ${DO}|(debo|debemos|debes|debería|deberíamos|hay que|necesito|necesitamos) ${DO}|(puedes|podrías|puede|podría|pueden) (por favor )?${DO}(me|nos|lo|la)?|por favor (env*|mand*|prepar*|revis*|llam*|confirm*)|me (encargo|ocupo)|yo (me encargo|lo hago)|no (olvides|olvide|olvidar)|(se encarga|se ocupa|es responsable) de|tarea*|pendiente*|(enviaré|mandaré|prepararé|llamaré|revisaré|haré|escribiré|hablaré|actualizaré|confirmaré)|(enviará|mandará|preparará|llamará|revisará|hará|escribirá|hablará|actualizará|confirmará)`,
    decision:
      '(hemos|habíamos|han|he) (decidido|acordado|quedado|aprobado|elegido)|(decidimos|acordamos|quedamos en|aprobamos|elegimos|optamos por)|vamos (con|a ir con|a quedarnos con)|nos quedamos con|(la|nuestra) decisión (es|fue|final)|(está|queda|quedó|fue|ha sido) (decidido|acordado|aprobado|aprobada|cerrado)|de acuerdo entonces|entonces (lo hacemos|hacemos|seguimos)|trato hecho|lo (dejamos|posponemos|cancelamos|aplazamos)|no vamos a',
    objection:
      '(demasiado|muy) (caro|cara|complicado|complicada|lento|lenta|arriesgado|largo|tarde|alto)|(me|nos) (preocupa|inquieta|da miedo)|(no )?(estoy|estamos) (un poco |muy )?(seguro|seguros|segura|convencido|convencida|convencidos|preocupado|preocupados|preocupada)|(mi|nuestra|la) (preocupación|duda|principal duda)|ya (tenemos|usamos|trabajamos|tengo|uso)|no (necesitamos|necesito|podemos pagar|tenemos presupuesto|hay presupuesto|es prioridad|es el momento|nos interesa|me interesa|veo)|fuera de(l)? (nuestro )?presupuesto|más barato*|(tenemos|tengo) que pensar*|y si (no|falla|pasa)|dudo que|difícil de (justificar|vender)',
    nextStep:
      '(próximo|próximos|siguiente|siguientes) pasos?|(agendar|programar|fijar|concertar|organizar) (una|otra|la) (llamada|reunión|demo|cita)|(nos|te|le) (vemos|hablamos|reunimos|llamo|contacto)|(hablamos|quedamos|nos reunimos|nos vemos) (el|la|de nuevo|mañana)|(te|le|les) (envío|enviaré|mando|mandaré) .. (propuesta|contrato|oferta|presupuesto|factura|invitación|resumen|enlace)|a partir de (aquí|ahora)|seguimos en contacto|estaremos en contacto|volvemos a hablar|el plan es',
    deadline:
      '(para|antes del|hasta|este|el próximo|el) (el )?(lunes|martes|miércoles|jueves|viernes|sábado|domingo)|(para|antes de|hasta) (mañana|el mediodía|la tarde|fin de|finales de|el [0-9]+|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)|en (enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)|(la próxima|esta|la) semana( que viene)?|(el próximo|este) (mes|año|trimestre)|(mes|año|semana) que viene|en (un|una|dos|tres|cuatro|cinco|seis|[0-9]+) (día|días|semana|semanas|mes|meses|años|horas)|plazo*|fecha (límite|de entrega)|mañana|lo antes posible|el (lunes|martes|miércoles|jueves|viernes)|cuanto antes|(a )?(fin|finales|principios) de|(primer|segundo|tercer|cuarto) trimestre',
    important:
      '(lo )?(más )?importante|lo (principal|fundamental|esencial|clave|que importa)|(la|el) (idea|punto|motivo|problema|razón|mensaje|cuestión) (principal|clave|central|fundamental)|en (resumen|conclusión|definitiva|pocas palabras|otras palabras)|para (resumir|concluir)|al final|sobre todo|se trata de|el resultado|resulta que|recuerden|recordad|tengan en cuenta',
    opinion:
      '(yo )?(creo|pienso|opino|siento|espero|deseo|sueño)( (que|con))?|en mi (opinión|experiencia)|para mí|(sinceramente|honestamente|francamente)|la verdad es|(nunca|siempre|jamás)|(lo|el|la) (mejor|peor)|(increíble|maravilloso|maravillosa|orgulloso|orgullosa)|he aprendido|aprendí|me (encanta|gusta|apasiona)|quiero',
    problem:
      'no (funciona|funcionan|funcionaba|funcionó|arranca|carga|abre|llegó|ha llegado|conecta|responde|sirve)|(roto|rota|estropeado|estropeada|averiado|averiada|dañado|dañada|defectuoso|defectuosa)|(el|un|otro|nuestro|mi|gran) (problema|error|fallo|retraso|inconveniente)|(los|unos|nuestros|muchos|hay|tengo|tenemos|tuvimos) (problemas|errores|fallos|retrasos)|problemas? con|(falla|falló|bloqueado|bloqueada|bloqueo|falta|faltan|retrasado|retraso)|(llevo|llevamos|estoy|sigo|seguimos) .. esperando|todavía no|aún no|(descontento|decepcionado|decepcionada|frustrado|frustrada|molesto|molesta|enfadado|enfadada|inaceptable|indignado|pésimo|terrible|fatal)|salió mal|(está|es|era|estaba) (mal|incorrect*|equivocad*)|nunca (llegó|llegaron|llamaron|recibí|recibimos)|fue mal|cobrado dos veces|(doble|dos) (cobro|cargos)|nadie (me )?(llamó|contestó|respondió|ha llamado)|no (puedo|pude|podemos|pudimos) (entrar|acceder|abrir|usar|conectar*)|difícil|demasiado lento|tardó (mucho|demasiado)|queja*|reclam*',
    remedy:
      '(quiero|exijo|espero|pido|necesito|quisiera|me gustaría) .. (reembolso|dinero|devolución|reemplazo|compensación|descuento|disculpa|reparación|cambio)|(quiero|exijo|necesito) (que|a alguien)|por escrito|reembolso|devolución|devuelvan|indemnización|compensación|cancelar (mi|el|la) (contrato|suscripción|pedido|cuenta)|hablar con .. (supervisor|encargado|gerente|responsable)|reemplazo',
    solution:
      '(he|hemos|ha|han) .. (arreglado|solucionado|resuelto|reiniciado|reemplazado|reembolsado|corregido|reparado|cambiado|actualizado)|(ya (funciona|está)|funciona (ahora|ya|bien|de nuevo)|está (arreglado|solucionado|resuelto))|(voy|vamos) a (reembolsar*|reemplazar*|enviar* .. (nuevo|nueva)|abrir .. (ticket|incidencia)|solucionar*|arreglar*|cambiar*)|(ha|has) (probado|intentado)|(pruebe|intente|reinicie|apague|desconecte|prueba|reinicia)|(he|hemos) .. (cancelado|anulado|suspendido|abonado|registrado|abierto)|(le|te) (puedo |podemos )?(ofrezco|ofrecemos|ofrecer|abono|abonamos|abonar)|la solución|(ticket|incidencia)|le (enviamos|enviaremos|envío|reembolsamos|reembolsaremos)',
    greeting: 'buenos días|buenas (tardes|noches)|hola|bienvenido*|bienvenida*|gracias por llamar|buenas',
    introduction:
      'me llamo|mi nombre es|(le|te) (habla|saluda|atiende)|soy [^ ]+ (de|del)|soy [^ ]+ [^ ]+ (de|del)|en qué (puedo|le puedo|te puedo) ayudar*',
    verify:
      '(su|tu|el) (número de (pedido|cuenta|cliente|contrato|teléfono|referencia|serie|póliza))|número de (pedido|cuenta|cliente|contrato|teléfono|referencia)|fecha de nacimiento|(su|tu) nombre completo|(su|tu) (dirección|correo|código postal|dni)|(verificar|confirmar|confirmarme|deletrear)|pregunta de seguridad',
    apology:
      '(lo )?(siento|sentimos|lamento|lamentamos)|disculp*|perdón|perdone|perdona|(le |lo |te )?(entiendo|comprendo)( perfectamente| su)?|pido disculpas|imagino',
    anythingElse:
      '(algo|alguna cosa|alguna otra|alguna duda) más|(puedo|podemos) ayudar* en algo más|(alguna|otra|más) (otra )?(pregunta|duda|consulta)s?',
    thanks: '(muchas |mil )?gracias|(se lo |te lo )?agradezco|agradecemos|agradecid*',
    farewell:
      'adiós|hasta (luego|pronto|mañana|la próxima|el)|(que tenga|que tengas|que pase|que pases|ten) .. (día|tarde|semana|fin)|nos vemos|buen (día|fin)|chao|cuídate|cuídese',
    money:
      'presupuesto*|precio*|cost*|cuánto (cuesta|vale|sale)|euro*|dólar*|pesos?|[$€£]|por (mes|año|usuario|licencia)|al (mes|año)|descuento*|factura*|pag(ar|o|os|amos|ué)|caro|cara|barato|barata|salario|sueldo|tarifa*|mil|millón|millones',
    authority:
      '(mi|nuestro|nuestra|el|la) (jefe|jefa|director|directora|gerente|ceo|dirección|junta|departamento de compras|departamento legal|socio|socia|comité|dueño)|quién decide|(decide|deciden|decido|tomo la decisión|toma la decisión|última palabra)|(tengo|tenemos|tiene) que (consultar*|preguntar*|hablar* con|aprobar*)|aprobación|aprobar*|autoriza*|firma',
    need: '(necesitamos|necesito|buscamos|busco|queremos|quisiéramos|requerimos|nos gustaría|nos hace falta)|(estamos|estoy) buscando|(nuestra|mi|la) (necesidad|meta|dificultad)|(nuestro|mi|el) (objetivo|requisito|reto|desafío)|a mano|manualmente|sería (útil|bueno|ideal)|perdemos|nos falta',
    competition:
      'competencia|competidor*|(otro|otra|actual|diferente) (proveedor|herramienta|solución|sistema|empresa|oferta)|(proveedor|herramienta|sistema|solución) actual|comparado con|en comparación|alternativa*|en (vez|lugar) de|cambiar de|excel|hojas? de cálculo|(usamos|trabajamos con|utilizamos) (actualmente|ahora)',
    done: '(he|hemos|ha|han) (terminado|acabado|hecho|completado|arreglado|enviado|escrito|probado|actualizado|revisado|trabajado|desplegado|publicado|cerrado|implementado|empezado|hablado)|(terminé|acabé|completé|arreglé|envié|escribí|probé|actualicé|revisé|trabajé|publiqué|cerré|hice|terminamos|hicimos)|ayer|(está|están|quedó) (listo|lista|listos|hecho|terminado|terminada)',
    positive:
      '(salió|fue|funcionó|va|funciona|ha ido|ha salido) (muy |bastante )?(bien|mejor|genial)|(muy )?(contento|contenta|contentos|satisfecho|satisfecha|satisfechos|feliz|orgulloso|orgullosos)|(buen|gran|excelente|buena) (trabajo|resultado|avance|idea|ambiente|comunicación|equipo)|(me|nos) (gustó|gusta|encantó|ayudó)|mejoró|hemos mejorado|éxito*|más rápido que|a tiempo',
    idea: '(podríamos|podemos|deberíamos|podrías|podría) (probar|intentar|empezar|usar|hacer|mejorar|añadir|introducir|automatizar|cambiar|tener)|(qué tal|qué te parece|qué les parece) si|por qué no|(mi|una|la) (idea|propuesta|sugerencia)|(propongo|sugiero|recomiendo)|la próxima vez|sería (mejor|bueno)|quizás? (podríamos|deberíamos)|mejora*',
    feedback:
      'feedback|retroalimentación|(has|ha) (hecho|manejado|mejorado) .. (bien|mejor|genial|excelente)|(buen|excelente|gran) trabajo|(podrías|deberías|puedes|podría) (mejorar|delegar|comunicar|hablar|ser)|he notado|(aprecio|valoro)|fortaleza*|debilidad*|punto* (fuerte|débil)*',
    goal: 'objetivo*|meta*|(quiero|quisiera|me gustaría|espero) (aprender|crecer|mejorar|liderar|desarrollar|ser|llegar|trabajar|asumir)|carrera|ascenso|promoción|formación|capacitación|curso*|certifica*|a largo plazo|a fin de año|plan de desarrollo',
    wellbeing:
      'cómo (estás|está|te sientes|se siente|te va|le va|vas)|carga de trabajo|(estoy|me siento|me encuentro) (un poco |muy |bastante )?(cansado|cansada|estresado|estresada|agobiado|agobiada|motivado|motivada|contento|contenta|bien|mal|enfermo|enferma)|vacaciones|horas extra|demasiado trabajo|equilibrio|estrés',
    experience:
      '(he|hemos) (trabajado|liderado|gestionado|desarrollado|diseñado|estudiado|dirigido|usado)|(trabajé|lideré|gestioné|desarrollé|estudié|dirigí|fui responsable)|años? (de experiencia|como|en)|(mi|su) (último|anterior|actual|primer) (trabajo|empleo|puesto|empresa|proyecto)|(grado|licenciatura|máster|universidad|título)|responsable de|experiencia (con|en|como)|habilidades|conocimientos',
    motivation:
      'por qué (quiere|quieres|te interesa|le interesa)|me (interesa|atrae|motiva|apasiona|gustaría trabajar)|estoy (interesado|interesada|motivado|motivada|buscando)|busco|nuevo (reto|desafío|puesto)|nueva (oportunidad|etapa)|(disponible|incorporarme|empezar) (a partir|desde|el|en|inmediatamente|de inmediato)|expectativa* salarial*|preaviso',
    definition:
      '(se llama|se llaman|se define|se conoce como|significa|se refiere a|consiste en|llamamos|entendemos por|hablamos de)|definición|qué (es|son)|es (un|una|el|la) [^ ]+ (que|de|donde|en)|son [^ ]+ que',
    example: 'por ejemplo|un ejemplo|como (por ejemplo|el caso)|imagin*|supong*|pensemos en|consideremos|tales como|incluye*',
    symptom:
      'dolor*|duele*|me duele|fiebre|tos|mareo*|mareado|mareada|náusea*|vómito*|vomit*|cansancio|cansad*|débil|hinchad*|hinchazón|sarpullido|picor|me pica|falta de aire|no (puedo|duermo|consigo) dormir|insomnio|sangr*|alergi*|síntoma*|(desde|hace) (ayer|dos|tres|cuatro|un|una|unos|[0-9]+)( días| semanas| meses)?',
    finding:
      'presión( arterial)?|tensión|pulso|frecuencia|temperatura|peso|[0-9]+ (sobre|con) [0-9]+|grados|radiografía|resonancia|tac|ecografía|electrocardiograma|análisis|analítica|exploración|(pulmones|corazón|garganta|oídos|abdomen|pecho) .. (bien|limpi*|normal*|roj*|suena*)|oxígeno|miligramos|resultado*',
    assessment:
      '(parece|suena|apunta) (a|que|ser)|probablemente|(creo|sospecho) que (es|tiene|se)|diagnóstic*|compatible con|sospech*|infección|inflamación|indica|sugiere|descartar|nada grave',
    treatment:
      'recet*|(tome|toma|tómese|aplique|use) ..( (pastilla*|comprimido*|medicamento*|gotas|crema|veces|horas|días|antibiótico*|ibuprofeno|paracetamol))?|antibiótico*|ibuprofeno|paracetamol|pastilla*|comprimido*|medicación|medicamento*|inyección|vacuna|(vuelva|venga) .. (semana|días|si)|derivar*|especialista|reposo|descans*|beba|fisioterapia|cirugía|tratamiento|terapia|análisis de sangre|miligramos',
    claim:
      '(él|ella|ellos|yo|nosotros) (dijo|dijeron|afirmó|prometió|firmó|negó|admitió|vio|pagó|recibió)|(dijo|dijeron|afirmó|afirma|prometió|prometieron|firmó|firmamos|firmé|negó|admitió|reconoció|pagué|recibí)|contrato*|acuerdo*|prueba*|testigo*|según|responsabilidad|daño*|demanda*|tribunal|juez|cláusula*|documento*|policía|accidente|seguro|incumpl*|carta|disputa',
  },
  questions:
    'qué|por qué|cómo|cuándo|dónde|quién|quiénes|cuál|cuáles|cuánto|cuánta|cuántos|cuántas|puedes|puede|podrías|podría|tienes|tiene|hay|es posible',
  stop: `a acá además ahí ahora al algo alguien algún alguna algunas alguno algunos allá allí ante antes aquel aquella aquellos aquí así aun aún aunque bastante bien bueno buena buenos buenas cada casi
cierto claro como cómo con conmigo contra cosa cosas creo cual cuál cuales cualquier cuando cuándo cuanto cuánto da dar de debe debería decir dejar del demás demasiado dentro desde después dice
dicho digo día días donde dónde dos durante e el él ella ellas ellos embargo en entonces entre era eran eres es esa esas ese eso esos esta está estaba estado estamos están estar estas este esto
estos estoy etc favor forma fue fueron fui gente gracias gran grande ha haber había habían hace hacen hacer hacia haciendo han has hasta hay haya he hecho hemos hola hoy igual incluso ir jamás
junto la las le les lo los luego llegar lugar mañana más mal manera mayor me mejor menos mes meses mi mí mientras mío mis mismo misma mismos momento mucha muchas mucho muchos muy nada nadie ni
ningún ninguna ninguno no nos nosotros nuestra nuestras nuestro nuestros nueva nuevas nuevo nuevos nunca o os otra otras otro otros para parece parte pasa pasado pero perdón persona personas poco
pocos poder podemos podía podría porque por posible primer primera primero pronto propio próxima próximo pude pueda puede pueden puedes puedo pues que qué quien quién quienes quiere quieren
quieres quiero quizá quizás realmente saber sabe sabes se sé sea según seguro semana semanas ser será sería si sí sido siempre siendo sin sino sobre solamente solo sólo somos son soy su sus
suyo tal también tampoco tan tanta tanto te tener tenemos tengo tenía ti tiempo tiene tienen tienes toda todas todavía todo todos trabajo trata través tres tu tú tus un una unas uno unos usted
ustedes va vale vamos van varias varios veces ver verdad vez voy y ya yo año años hora horas tarde noche lunes martes miércoles jueves viernes sábado domingo eh em ah oh pregunta quería hablar
señor señora decía dije dijo haré haremos gustaría necesito necesitamos tema punto acuerdo enviar mirar`,
  determiners:
    'el la los las un una unos unas del al mi mis su sus tu tus nuestro nuestra nuestros nuestras este esta estos estas ese esa de en con por para sobre sin nuevo nueva cada otro otra',
  names: {
    introductions: [
      'me llamo NAME',
      'mi nombre es NAME',
      '(?:le|te) (?:habla|saluda|atiende) NAME',
      'soy NAME,? (?:de |del |y |su |la |el )',
      'habla NAME(?=[.,!?;]|$| de )',
    ],
    addresses:
      'hola|gracias|muchas gracias|buenos días|buenas tardes|buenas noches|bienvenido|bienvenida|adiós|hasta luego|perdona|perdone|querida|querido',
    never:
      'Todos Señor Señora Señores Doctor Doctora Don Doña Chicos Equipo Lunes Martes Miércoles Jueves Viernes Sábado Domingo Dios Sí No Y Pero Pues Bueno Usted Por A Mamá Papá Muy Igualmente',
    titles: 'Señora?|Sra?\\.?|Don|Doña|Dra?\\.?|Doctora?|Profesora?',
  },
};

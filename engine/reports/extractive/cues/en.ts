import type { Language } from './cue.ts';

const DO =
  '(send|e?mail|prepare|write|draft|check|call|ring|ask|fix|update|share|review|set up|schedule|book|create|finish|follow up|talk to|speak (to|with)|look (into|for|at)|find out|get back|order|test|deploy|add|arrange|organi[sz]e|contact|forward|invite|upload|submit|sign|pay|confirm|let (you|them|him|her) know|take care|handle|work on|put together|make sure|bring|collect|compare|document|circulate|ship|build|reach out|register|request|replace|issue|investigate|present|move|cancel|credit|raise|log|correct|escalate|hand over|clean up|give (you|them) a call)';

export const en: Language = {
  phrases: {
    task: `(i|we)('ll| will|'m going to|'re going to| am going to| are going to) (also |just |then |personally )?${DO}|i (can|need to|have to|should|must) ${DO}|we (need to|have to|should|must) ${DO}|(can|could|would|will) you (please |also |just )?${DO}|please ${DO}|what i'm going to do is|(i'll|i will) put|you('ll| will) (get|receive|have) [^ ]+ .. (by|within|today|tomorrow|on)|you (need|have) to ${DO}|(don't|do not) forget to|remember to ${DO}|[^ ]+ will ${DO}|action items?|to-do list|i'm on it|leave (it|that) (to|with) me|i'll take (that|this|it) (on|over)`,
    decision:
      "we('ve| have)? (decided|agreed)|(i|we|they) (have )?decided (to|on|that|against)|let's go (with|for|ahead)|we('ll| will|'re going to| are going to) go (with|for|ahead)|(the|our|final) decision (is|was)|(it's|that's|it is|that is|so it's) (decided|settled|agreed|a deal)|agreed then|(is|was|are|has been) approved|we('ll| will) stick with|we('re| are) not going to|let's (keep|drop|postpone|cancel|do it|agree|settle)|we choose|we chose",
    objection:
      "too (expensive|much|complicated|slow|risky|long|late|high)|(i'm|we're|i am|we are) (a bit |really |quite |still )?(worried|concerned|afraid|hesitant|skeptical|sceptical|not (sure|convinced|comfortable))|my (main |biggest |only )?(concern|worry)|(the|our) (main |biggest |only )?(concern|worry)|(we|i) (already|currently) (have|use|work with)|(don't|do not|doesn't) (really )?(need|see the|want to switch|have (the )?(budget|time))|(can't|cannot) (afford|justify)|out of (our )?budget|over (our )?budget|not (a priority|the right time|interested|sure (if|whether|about|that))|cheaper|need to think about|have to think about|what if it|i doubt|hard to (justify|sell)",
    nextStep:
      "next steps?|follow up|get back to you|(schedule|set up|book|arrange|have) (a|another|the next) (call|meeting|demo|session|appointment)|(let's|we'll|we will|shall we) (meet|talk|speak|reconnect|catch up|touch base)|(talk|speak|meet|call) (again )?(next|on) (week|month|monday|tuesday|wednesday|thursday|friday)|from here|going forward|send (you|over|me|us) .. (proposal|contract|quote|offer|invoice|invite|details|summary|link)|the plan is to|we'll be in touch|i'll be in touch",
    deadline:
      '(by|until|before|on|this|next) (monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight|noon|the weekend|christmas|january|february|march|april|may|june|july|august|september|october|november|december)|(by|before|until) (the )?(end of|next|this|beginning of)|by [0-9]+|next (week|month|quarter|year)|this (week|month|quarter)|in (one|two|three|four|five|six|a few|[0-9]+) (days|weeks|months|years|hours)|(in|within) (a|one) (day|week|month|year)|deadline|due (date|on|by)|tomorrow|as soon as possible|asap|end of (the )?(day|week|month|quarter|year)|timeline|go live|(first|second|third|fourth) quarter|q[1-4]',
    important:
      '(the )?(most |really |very |more )?important|the (main|key|central|crucial|whole|big) (thing|point|idea|question|issue|problem|reason|message|takeaway)|in (summary|short|conclusion|essence|other words)|to (sum up|summari[sz]e|conclude)|(the )?bottom line|what (really )?matters|key takeaways?|above all|essentially|the point is|it turns out|we (found|discovered|learned)|the result|remember that|keep in mind',
    opinion:
      "i (really |strongly |firmly |honestly )?(think|believe|feel|love|hate|hope|wish|want|dream)|in my (opinion|view|experience)|for me|honestly|to be honest|frankly|the truth is|never|always|the best|the worst|incredible|amazing|proud|i've learned|i learned|it changed|what i like|ask not|imagine",
    problem:
      "(doesn't|does not|didn't|isn't|wasn't|won't|not) (work|working|start|load|open|charge|connect|respond|arrive|arrived)|broken|broke down|(the|a|big|real|another|our|my|main) (problem|issue|bug|error|failure|complaint|delay|outage)s?|problem with|(crashed|crashes|failed|fails|fail|stuck|blocked|blocker|blocking|damaged|defective|faulty|missing|delayed)|waiting (for|on|since)|still (waiting|haven't|not)|(not happy|unhappy|disappointed|frustrated|frustrating|annoyed|annoying|unacceptable|angry|upset|terrible|awful)|went wrong|(it's|that's|this is|is|was|are|were) (just |simply |completely |totally |all )?(wrong|incorrect|overdue|too high)|never (went|arrived|came|called|got|received|worked|happened|heard)|(shouldn't|should not) (have happened|happen)|overdrawn|estimated reading*|goes wrong|charged (me )?twice|overcharged|no one (called|answered|replied)|nobody (called|answered|replied)|can't (log in|access|open|use|reach)|cannot (log in|access|open|use|reach)|struggl*|difficult*|too slow|took too long|complain*",
    remedy:
      '(want|like|expect|need|demand|get|give (me|you)|offer (me|you)) (a|my|the|your|some) (full |partial )?(refund|money back|replacement|compensation|discount|credit|apology|repair|exchange)|refund|money back|(i|we) (just |also |really )?want (somebody|someone|you to|it to|this|my|them)|in writing|replacement|compensat*|cancel (my|the|our) (contract|subscription|order|account)|speak (to|with) (a|your|the) (manager|supervisor)|exchange it|send it back',
    solution:
      "(i|we|they)('ve| have)? (fixed|solved|resolved|restarted|reset|replaced|refunded|corrected|repaired|changed|updated|reinstalled|credited)|(works|working|is fixed|fixed|solved|resolved) (now|again)|(i|we)('ll| will| can) (refund|replace|credit|fix|escalate|send (you )?(a )?(new|replacement)|open a ticket|reset|repair|waive)|(have you|did you|could you|can you|please) (tried|try|restart*|reset*|unplug*|reinstall*|turn)|(i|we)('ve| have) (put|cancelled|canceled|stopped|removed|arranged|applied|added|processed|raised|opened|booked|credited)|(i|we)('ll| will| can|'m going to| am going to) (offer|put|cancel|arrange|apply|process|raise|correct|send you)|what i'm going to do|try (to )?(restart*|reset*|reinstall*|turning)|work ?around|the solution|ticket (number|is)",
    greeting: '(good )?(morning|afternoon|evening)|hello|hi|hey|welcome( to| back)?|thank you for calling|thanks for calling',
    introduction:
      "my name( is|'s)|this is [^ ]+ (from|speaking|calling|with)|[^ ]+ speaking|i'm (calling )?(from|with)|i am (calling )?(from|with)|i('m| am) [^ ]+ from|how (can|may) i help",
    verify:
      '(your|the) (order|account|customer|contract|reference|ticket|phone|serial|policy|booking) (number|id)|(your )?date of birth|(your )?(full|last|first) name|(your )?(address|e ?mail address|post ?code|zip code)|(verify|confirm) (your|the|that|some)|security question|spell (that|your|it)',
    apology:
      "(i'm|i am|we're|we are) (so |very |really |truly )?sorry|sorry (about|for|to hear)|apologi[sz]e|apologies|i (completely |totally |fully )?understand|that (must be|sounds) (very |really )?(frustrating|annoying|hard|difficult)|i can imagine",
    anythingElse: '(is there )?anything else|any (other|more|further) questions|something else i can|does that (help|answer|make sense)',
    thanks: 'thank you|thanks|appreciate (it|your|that)|grateful',
    farewell:
      '(good ?bye|bye|bye bye)|(have|enjoy) (a |the |your )?(nice|good|great|lovely|rest|day|evening|weekend)|take care|see you|talk (to you )?(soon|later)|until next time',
    money:
      'budget*|price*|pricing|cost*|(how much)|(dollar|euro|pound)s?|[$€£]|per (month|year|user|seat|license|licence)|discount*|invoice*|pay|paid|payment*|expensive|cheap*|afford|quote|salary|compensation|fee|fees|thousand|million',
    authority:
      "(my|our|the) (boss|manager|director|ceo|cfo|cto|board|management|procurement|legal team|head of [^ ]+|partner|committee|owner)|(decision maker|sign(s)? off|make(s)? the decision|final (say|decision|word)|approve|approval|who decides|budget holder)|i (have to|need to) (ask|check with|talk to|run it by|convince)|i can decide|it's (my decision|up to [^ ]+)",
    need: "(we|i|they) (really |urgently |also )?(need|require|are looking for|'re looking for|am looking for|'m looking for|would like|want)|looking for|it would (help|be (great|nice|useful))|(our|my|the) (requirement|need|goal|pain point|challenge)s?|must have|we (struggle|spend|lose) .. (time|hours|money|with|to)|manually|by hand|missing is|what we want",
    competition:
      'competitor*|(other|another|different|current|existing) (vendor|provider|supplier|tool|solution|system|offer|company)s?|(compared|compare) (to|with)|alternative*|instead of|switch (from|to)|(we|i) (currently|already) (use|work with|have)|spreadsheet*|excel',
    done: "(i|we)('ve| have)? (already |just )?(finished|completed|done|fixed|merged|deployed|released|closed|implemented|wrote|sent|tested|updated|shipped|reviewed|worked on|added|built|set up|met|talked to|started|published|signed|prepared)|yesterday|(is|are|it's) (done|finished|complete|ready|merged|live)",
    positive:
      '(went|works|worked|going|goes|doing) (really |very |quite |so )?(well|great|fine|smoothly|better)|(really |very |so )?(happy|pleased|satisfied|glad|proud) (with|about|that|of)|(great|good|excellent|fantastic|amazing|nice) (job|work|result|progress|teamwork|idea|feedback|experience)|i (really )?(like|liked|love|loved|enjoy|enjoyed)|improved|success*|helped (us|me|a lot)|faster than|on (time|track)',
    idea: "(we|you|i) (could|should|might)( also| maybe)? (try|start|stop|use|add|make|have|do|improve|change|introduce|automate)|(what|how) about|what if we|let's try|(my|one|an|the) (idea|suggestion|proposal)|(i'd|i would) (suggest|propose|recommend|like to try)|i (suggest|propose|recommend)|next time|it would be (better|good|great|nice)|why don't we|maybe we (could|should)|improvement*",
    feedback:
      "feedback|(you|your) (did|are doing|handled|have done|presentation|work) .. (well|great|good|better|excellent)|(good|great|nice|excellent) (job|work)|you (could|should|might want to) (improve|work on|try|be more|communicate|speak|delegate)|i('d| would) like you to|i (noticed|appreciate) (that )?(you|how)|room for improvement|strength*|weakness*",
    goal: "goal*|objective*|target*|okr*|i (want|would like|'d like|hope) to (become|learn|grow|improve|lead|develop|take|move|work)|career|promotion|training|(learn|develop) (more|new|to)|course|certification|long term|by the end of the (year|quarter)|development plan",
    wellbeing:
      "how are you( doing| feeling)?|how (is|was|has) (it|your|the) (going|week|weekend|vacation|workload)|workload|(i'm|i am|i feel|i've been|feeling) (a bit |really |very |quite )?(tired|stressed|overwhelmed|exhausted|good|fine|great|motivated|happy|frustrated|sick|busy)|work life balance|vacation|day off|burn ?out|overtime|too much (work|on my plate)",
    experience:
      "(i've|i have|i) (worked|been working|was working|led|managed|built|developed|designed|studied|graduated|was responsible|been responsible|gained|used)|years? (of experience|experience|as|in|at)|(my|his|her|your) (last|previous|current|first) (job|role|position|company|project|employer)|(degree|bachelor|master|phd|university)|responsible for|experience (with|in|as)|familiar with|skills?|at (my|the) (last|previous) (company|job)",
    motivation:
      "why (do you|did you|are you)|i('m| am) (really |very )?(interested|excited|passionate|motivated|curious)|i('d| would) (love|like) to (work|join|be|learn)|(what )?attracts? me|new challenge|looking for (a|an|something) (new|more|bigger|role|job|challenge|opportunity)|i (applied|want to join)|notice period|salary (expectation|range)s?|(start|available) (from|in|on|immediately)",
    definition:
      'is (called|defined as|known as|a kind of|a type of|the process|what we call)|(means|refers to|stands for|consists of|describes)|by definition|the definition of|(what|so what) (exactly )?is|(we|they) (call|speak of|define)|is (a|an|the) [^ ]+ (that|which|of|where|in which)|are [^ ]+ (that|which)',
    example:
      "for (example|instance)|such as|let's (say|take|look at|consider)|imagine|suppose|consider|think of|an example|case in point|(includes|including)",
    symptom:
      "(i|he|she|my|it) (have|has|had|feel|feels|felt|hurts|hurt)( a| an| some| been| really| very)? (pain|ache|headache|fever|cough|cold|dizzy|nausea|nauseous|tired|weak|sick|rash|swelling|numb*|itch*|short of breath|sore)|pain|hurts?|headache*|fever|cough*|dizz*|nausea|vomit*|swollen|swelling|rash|shortness of breath|can't sleep|trouble sleeping|insomnia|bleed*|symptom*|itch*|sore throat|fatigue|allergi*|since (yesterday|monday|last|about|two|three)|for (the past|about|two|three|four|a few|several) (days|weeks|months|years)",
    finding:
      'blood pressure|(heart|pulse) rate|pulse|temperature|weight|[0-9]+ (over|by) [0-9]+|degrees|(the )?(x-?ray|mri|ct|scan|ultrasound|ecg|ekg|blood test|lab|test) (results?|shows?|showed|is|was|looks)|(on )?examination|(your )?(lungs|heart|throat|ears|chest|abdomen) (sounds?|looks?|is|are)|oxygen|milligrams?|mg|reflexes|tender|results? (show|are|came)',
    assessment:
      "(it |this |that )?(looks|sounds|seems) like|(most )?likely|probably|(i think|i suspect|i believe) (it's|this is|that|you have|it is)|diagnos*|consistent with|suspect*|infection|inflammation|indicates|suggests|rule out|nothing serious",
    treatment:
      'prescri*|(take|apply|use) (this|the|these|one|two|it|them) .. (tablet|pill|medicine|medication|cream|times|daily|day|twice|drops)s?|(antibiotic|ibuprofen|paracetamol|aspirin|tablet|pill|medication|medicine|injection|vaccine)s?|(come|see me) (back|again)|follow up (appointment|visit)|refer (you|him|her)|referral|rest|drink (plenty|a lot)|physio*|surgery|treatment|therapy|(blood|lab) (test|work)|milligrams?',
    claim:
      '(he|she|they|i|we) (said|stated|claimed|claims|told|signed|promised|agreed|refused|denied|admitted|reported|saw|paid|received|witnessed)|contract|agreement|evidence|witness*|according to|on the (first|[0-9]+)|liabil*|damage*|claim*|lawsuit|court|clause|document*|police|accident|insurance|breach*|letter|dispute',
  },
  questions:
    'what|why|how|when|where|who|which|whose|do you|does|did you|can you|could you|would you|will you|are you|is there|is it|have you|shall we|should we',
  stop: `lovely yeah bear alright a about above actually after again against all almost already also although always am an and another any anyone anything are aren't around as at away back be
because been before being below between both but by came can can't cannot come could couldn't day days did didn't do does doesn't doing don't done down during each either else
enough even ever every everybody everyone everything few first for from get gets getting give given go goes going gone gonna good got great guess had hadn't happen has hasn't have
haven't having he he'd he'll he's hello help her here here's hers herself hey hi him himself his how how's however i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself
just keep kind know last least less let let's like little long look looking lot made make makes making many may maybe me mean might mine more most much must my myself need needs never new
next nice no nobody nor not nothing now of off oh ok okay on once one ones only or other others our ours out over own people perhaps place please point pretty probably put quite rather real
really right said same saw say says see seen send several shall she she'd she's should shouldn't show since so some somebody someone something sometimes sort still stuff such sure take
takes talk talking tell than thank thanks that that'll that's the their theirs them themselves then there there's these they they'd they'll they're they've thing things think this those
though through time times to today together tomorrow too took try trying two three four five under until up upon us use used using very wait want wanted wants was wasn't way we we'd we'll we're
we've week weeks well went were weren't what what's whatever when where which while who who's whole whom whose why will with within without won't word work working works would wouldn't wow yeah
year years yep yes yesterday yet you you'd you'll you're you've your yours yourself uh um er ah hmm mm bit month months morning afternoon monday tuesday wednesday thursday friday saturday
sunday feel start started end ask asked call called part different big small able else's exactly absolutely basically everything's hear heard speak speaking bye goodbye welcome sorry`,
  determiners:
    'the a an our your my their his her its this these that those of for about with in on from to new current every each any some more without',
  names: {
    introductions: [
      "my name(?:'s|’s| is) NAME",
      'this is NAME (?:speaking|calling|here|from|with|at)',
      'NAME (?:speaking|here)(?=[.,!?;]|$)',
      "i(?:'m|’m| am) NAME,? (?:from|with|calling|your|and i(?:'m|’m| am))",
      "you(?:'re|’re| are) (?:speaking|talking) (?:to|with) NAME",
    ],
    addresses: 'hi|hello|hey|thanks|thank you|good morning|good afternoon|good evening|welcome|bye|goodbye|nice to meet you|sorry',
    never:
      'Everyone Everybody All Guys Team Folks Sir Madam Doctor Ladies There Again So And But Well Monday Tuesday Wednesday Thursday Friday Saturday Sunday God Jesus Mom Dad Mum Okay Yes No I Bye Thanks Both',
    titles: 'Mr\\.?|Mrs\\.?|Ms\\.?|Miss|Dr\\.?|Professor|Prof\\.?',
  },
};

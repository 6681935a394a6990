/* The words that people read are the field's: in pages, messages, dashboards and comments. Each pattern was once somewhere in this repository. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { ROOT } from './support/processes/processes.ts';

const SELF = 'test/words.test.ts';

/** Home-made terms, and those of the field. */
const TERMS: [home: RegExp, field: string][] = [
  [/\bvoice ?prints?\b/i, 'speaker embedding'],
  [/\bwords wrong\b|\bwrong words\b/i, 'word error rate (WER)'],
  [/\bhalf within\b|\b90 % within\b/i, 'p50, p90'],
  [/\binvented (words|text)\b|\binvents (words|text)\b/i, 'hallucination'],
  [/\btold apart\b|\btell(s|ing)? (the )?(speakers|people|voices) apart\b/i, 'diarized; distinguished'],
  [/\bstored in plain\b|\bIn plain are\b|\bstay plain\b/i, 'unencrypted'],
  [/\bpeople thrown in\b|\bwords thrown in\b|\bthrown into talks\b/i, 'overlapping interjections'],
  [/\bfind(s|ing)? speech\b/i, 'voice activity detection (VAD)'],
  [/\btimes of words\b|\bword times\b/i, 'word timestamps'],
  [/\bwith beams\b|\bbeams:/i, 'beam search'],
  [/\bthe (encoder|decoder|diarization|segmentation|recognition)?\s?networks\b(?!['`])/i, 'models'],
  [/\bour time x\b|\bx our time\b/i, 'relative time'],
  [/\bwriting down what is said\b|\blooking at the file\b|\bat work \/ gone\b/i, 'Transcribing; Checking file; Online, Offline'],
  [
    /\bNobody says that\b|\bLook again\b|\btakes it away\b|\bAddress that is told\b|\bMay read, and\b/i,
    'No matches; Refresh; Leave empty to reset',
  ],
  [
    /\bshows what is possible\b|\bhere and now\b|\bbring the database to this version\b/i,
    'run with --help for usage; locally; run migrations',
  ],
  [/\bin words for people\b|\bfor people to read\b/i, 'human-readable'],
  [/\bDebian and its relatives\b/i, 'Debian or Ubuntu'],
  [/\bWhoever loses\b/i, 'If the master key is lost'],
  [/\bsigns? of life\b/i, 'heartbeat'],
  [/\bhand(s|ed|ing)? back\b/i, 'requeue, release, return'],
  [/\banew\b/i, 'again; re-create, reindex, restart'],
  [/\bfor good\b/i, 'permanently'],
  [/\bclient has gone\b|\bno longer wanted\b/i, 'disconnected; cancelled'],
  [/\breally used\b/i, 'in use'],
  [/\bsays? of itself\b/i, 'describes; descriptor'],
  [/\bwhose turn it is\b/i, 'next, round-robin'],
  [/\bnobody waits (any more|for it)\b/i, 'no longer awaited'],
  [/\bfiles from strangers\b|\bgets the better of\b/i, 'untrusted files; exploits'],
  [/\bholds NUL\b|\bmust hold a word\b|\bis no filter\b/i, 'contains; is not a filter'],
  [/\bthe answer of then\b|\bthe form asked for\b/i, 'the original response; the requested format'],
  [/\b(is|are) told to this address\b|\bAddresses that are told\b|\bsecond belt\b/i, 'notified; second line of defence'],
  [/\bFilters combine\b/, 'combined with AND'],
  [/\bmake another with\b|\bis yours to decide\b|\bkeeps it out of the list of processes\b/i, 'create another; the process list'],
  [/\bThe way of a recording\b|\bWho may import whom is enforced\b/i, 'how a recording is processed'],
  [/\bgoes over keyed hashes\b|\bwhat was learnt\b/i, 'uses keyed hashes; lessons'],
  [/\bcounts for nothing\b/i, 'not counted'],
  [/\bsomebody asks for\b/i, 'requested'],
  [/\bthat comes on top\b/i, 'in addition'],
  [/\bfor those who wait\b|\bwhen nobody waits\b/i, 'waiting requests; idle'],
  [/\bat work on\b/i, 'working on, processing'],
  [/\bthe queue says\b|\blook into the file\b/i, 'a message of the queue; probe, inspect'],
  [/\b(seconds?|s) of a processor\b|\ba machine that does much else\b/i, 'CPU time; a busy machine'],
  [/\b(a|one) (third|quarter|fifth|tenth) of an? (second|minute|hour)\b/i, '0.33 s, 333 ms'],
  [
    /\bso like one\b|\bso like the other\b|\brepeats the choice of\b|\bas they are shipped\b/i,
    'similarity; random; the shipped configuration',
  ],
];

/** Fractions in words instead of percentages: "a sixtieth less time". */
const FRACTION =
  /\b(?:a|an|one|two|three|four|five|seven|eight|nine) (?:quarter|fifth|sixth|seventh|eighth|ninth|tenth|twelfth|fifteenth|twentieth|thirtieth|fortieth|fiftieth|sixtieth|eightieth|hundredth)s?(?: of (?:the|all) (?:time|memory)| less| more| faster| slower| of what)\b/i;

const lines = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(md|ts|tsx|mjs|css|html|sh|ya?ml|py|json)$|^scripts\/longhand$/.test(file))
  .filter((file) => !/^(bench\/data|models\/whisper-base)\/|^package-lock|^test\/fixtures\//.test(file))
  .filter((file) => file !== SELF && existsSync(path.join(ROOT, file)))
  .flatMap((file) =>
    readFileSync(path.join(ROOT, file), 'utf8')
      .split('\n')
      .map((text, index) => ({ text, place: `${file}:${index + 1}` })),
  );

/** `file:line: text` of every line that matches. */
function found(pattern: RegExp): string[] {
  return lines.filter(({ text }) => pattern.test(text)).map(({ text, place }) => `${place}: ${text.trim().slice(0, 160)}`);
}

for (const [home, field] of TERMS) {
  t.test(`words: "${field}", not ${home.source}`, async (t) => {
    t.strictSame(found(home), []);
  });
}

/** A comment that begins with a relative clause ("What is left of values") instead of a noun or a verb. */
const CLAUSE = /(\/\*\*?|^ \*) (What|Who|Whom|Whose|Says|Tells)\b/;

t.test('words: comments begin with a noun or a verb', async (t) => {
  t.match('/** What is left of values. */', CLAUSE);
  t.strictSame(
    found(CLAUSE).filter((place) => !place.startsWith('db/postgres/migrations/')), // landed ones never change
    [],
  );
});

t.test('words: percentages instead of fractions in words', async (t) => {
  t.match('a sixtieth less time', FRACTION);
  t.strictSame(found(FRACTION), []);
});

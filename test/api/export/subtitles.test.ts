import t from 'tap';
import { subtitles } from '../../../api/export/subtitles.ts';
import { LONG, readSrt, readVtt, talk, turn } from '../../support/engine/subtitles.ts';

t.test('subtitles() breaks at sentences and phrases, not within them', async (t) => {
  const text = 'I think that we should wait until the spring, when prices fall. Nobody will sell before that, believe me.';
  const cues = readSrt(await subtitles(talk([turn(1, null, 1, text, 0.35)]), 'srt'));
  t.strictSame(
    cues.map(({ lines }) => lines),
    [
      ['I think that we should wait until', 'the spring, when prices fall.'],
      ['Nobody will sell before that,', 'believe me.'],
    ],
  );
});

t.test('subtitles() starts a new cue at a noticeable pause', async (t) => {
  const [one, two] = [turn(1, null, 0, 'so we went to the market', 0.3), turn(1, null, 4, ' and bought some apples', 0.3)];
  const merged = { ...one, text: one.text + two.text, words: [...one.words, ...two.words] };
  const cues = readSrt(await subtitles(talk([merged]), 'srt'));
  t.strictSame(
    cues.map(({ lines }) => lines.join(' ')),
    ['so we went to the market', 'and bought some apples'],
  );
});

t.test('subtitles() marks changes of speaker with a dash, or with the name if one was given', async (t) => {
  const turns = [
    turn(1, 'speaker_1', 0, 'Good morning to all of you.'),
    turn(2, 'speaker_2', 5, 'Thank you.'),
    turn(3, 'speaker_2', 12, 'Shall we begin?'),
  ];
  const speakers = [
    { id: 'speaker_1', name: 'Anna <A>: "x"' },
    { id: 'speaker_2', name: null },
  ];
  t.equal(
    await subtitles(talk(turns, { speakers }), 'srt'),
    [
      '1\n00:00:00,000 --> 00:00:02,080\nAnna <A>  "x": Good morning\nto all of you.\n',
      '2\n00:00:05,000 --> 00:00:06,000\n- Thank you.\n',
      '3\n00:00:12,000 --> 00:00:13,180\nShall we begin?\n',
    ].join('\n'),
  );
  t.match(
    await subtitles(talk(turns, { speakers }), 'vtt'),
    /<v Anna &lt;A&gt;: "x">Anna &lt;A&gt;.*<\/v>\n[\s\S]*<v Speaker 2>- Thank you\.<\/v>/,
  );
  const alone = await subtitles(talk([turns[0]!]), 'vtt');
  t.notOk(alone.includes('<v') || alone.includes('- '), 'one speaker needs no marks');
});

t.test('subtitles() marks changes of speaker with names of up to 16 columns, and with a dash instead of wider ones', async (t) => {
  const marked = async (name: string) => {
    const turns = [turn(1, 'speaker_1', 0, 'Hello.'), turn(2, 'speaker_2', 5, 'Hello.')];
    const speakers = [
      { id: 'speaker_1', name },
      { id: 'speaker_2', name: null },
    ];
    return readSrt(await subtitles(talk(turns, { speakers }), 'srt'))[0]!.lines;
  };
  t.strictSame(await marked('Bartholomew Finn'), ['Bartholomew Finn: Hello.']);
  t.strictSame(await marked('Bartholomew Quinn'), ['- Hello.']);
  t.strictSame(await marked('欧阳上官司马诸葛'), ['欧阳上官司马诸葛: Hello.']);
  t.strictSame(await marked('欧阳上官司马诸葛亮'), ['- Hello.']);
});

t.test('subtitles() fills lines up to 40 columns, which leaves two for the marks of right-to-left text', async (t) => {
  const lines = async (text: string) => readSrt(await subtitles(talk([turn(1, null, 0, text)]), 'srt')).flatMap((cue) => cue.lines);
  for (const words of ['nine more years of the old rules and ', 'תשע שנים נוספות של הכללים הישנים וגם ']) {
    const last = words.at(-2)!;
    const whole = words + last.repeat(40 - words.length);
    t.strictSame(await lines(whole), [whole]);
    t.equal((await lines(whole + last)).length, 2, 'one column more');
  }
});

t.test('subtitles() puts overlapping speakers into one cue, on a line each', async (t) => {
  const turns = [turn(1, 'speaker_1', 0, 'I was about to say that', 0.4), turn(2, 'speaker_2', 0.9, 'No, wait.', 0.5)];
  const cues = readSrt(await subtitles(talk(turns), 'srt'));
  t.strictSame(
    cues.map(({ lines }) => lines),
    [['- I was about to say that', '- No, wait.']],
  );
});

t.test('subtitles() fits Chinese by width, breaks between words, and never begins a line with a closing mark', async (t) => {
  const text = '我们今天讨论一下明年的预算问题，大家有什么意见都可以提出来。首先请财务部门介绍情况，然后我们再讨论。';
  const words = [...text].map((character, i) => ({ start: i * 0.22, end: i * 0.22 + 0.2, text: character }));
  const cues = readSrt(await subtitles(talk([{ id: 1, start: 0, end: 12, speaker_id: null, text, words }], { language: 'zh' }), 'srt'));
  const lines = cues.flatMap((cue) => cue.lines);
  t.equal(lines.join(''), text);
  for (const line of lines) t.ok([...line].length <= 21 && !/^[，。]/.test(line), line);
  t.ok(lines.some((line) => line.endsWith('，')));
});

t.test('subtitles() keeps the times of the pieces of a dictionary word that is too wide or too long for a line', async (t) => {
  const spoken = (...given: [start: number, end: number, text: string][]) => {
    const words = given.map(([start, end, text]) => ({ start, end, text }));
    return subtitles(talk([{ id: 1, start: 0, end: 20, speaker_id: null, text: '', words }], { language: 'th' }), 'srt');
  };
  const thai = 'ผมชื่อสมชายและผมทำงานที่กรุงเทพมหานครมาตั้งแต่ปีที่แล้ว';
  const wide = readSrt(await spoken([0, 0.3, ' yes'], [0.3, 0.3, thai], [0.3, 0.3, ` ${LONG}`], [0.3, 0.3, ' yes']));
  t.ok(wide[0]!.lines[0]!.startsWith('yes') && wide[0]!.end >= 300, JSON.stringify(wide));
  const long = readSrt(await spoken([0, 0.3, 'yes'], [9, 9.5, 'ผม']));
  t.strictSame(
    long.map(({ start, lines }) => [start, ...lines]),
    [
      [0, 'yes'],
      [9_000, 'ผม'],
    ],
  );
  const torn = readSrt(await spoken([0, 0.3, 'ผมช'], [9, 9.5, 'ื่อ']));
  t.strictSame(torn[0]!.lines, ['ผมชื่อ'], 'marks stay with their letter');
});

t.test('subtitles() spreads words over their segment where there are no word timestamps', async (t) => {
  const cues = readSrt(await subtitles(talk([{ id: 1, start: 10, end: 20, speaker_id: null, text: 'word '.repeat(30).trim() }]), 'srt'));
  t.equal(cues[0]!.start, 10_000);
  t.ok(cues.at(-1)!.end >= 20_000 && cues.length >= 2);
});

t.test('subtitles() are valid at hour 100 and for an empty transcript', async (t) => {
  t.match(
    await subtitles(talk([turn(1, null, 360_000, 'Late.')], { durationSeconds: 360_001 }), 'srt'),
    /^1\n100:00:00,000 --> 100:00:01,000\nLate\.\n$/,
  );
  t.equal(await subtitles(talk([]), 'srt'), '');
  t.strictSame(readVtt(await subtitles(talk([]), 'vtt')), []);
});

import t from 'tap';
import { clock, transcriptText } from '../../../api/contract/text.ts';

const line = (start: number, speaker_id: string | null, text: string, speaker_name: string | null = null) => ({
  start,
  speaker_id,
  speaker_name,
  text,
});

t.test('transcriptText() writes one line per segment, speakers numbered by first appearance', async (t) => {
  t.equal(
    transcriptText([line(0, 'b', 'One.'), line(65.9, 'a', 'Two.'), line(4503, 'b', 'Three.')]),
    '[00:00] Speaker 1: One.\n[01:05] Speaker 2: Two.\n[75:03] Speaker 1: Three.',
  );
});

t.test('transcriptText() shows names, without colons or line breaks', async (t) => {
  t.equal(transcriptText([line(1, 'a', 'Hi.', 'Ann:\nBoss'), line(2, 'b', 'Ho.')]), '[00:01] Ann Boss: Hi.\n[00:02] Speaker 2: Ho.');
});

t.test('transcriptText() labels everything Speaker 1 when not diarized', async (t) => {
  t.equal(transcriptText([line(1, null, 'Hi.'), line(2, null, 'Ho\nho.')]), '[00:01] Speaker 1: Hi.\n[00:02] Speaker 1: Ho ho.');
  t.equal(transcriptText([]), '');
});

t.test('transcriptText() matches the pattern of the contract', async (t) => {
  const text = transcriptText([line(59.999, 'a', 'x: y', ' : '), line(36000, 'b', '')]);
  for (const row of text.split('\n')) t.match(row, /^\[\d{2,}:\d{2}\] [^:]+: /);
});

t.test('clock() rounds down, and counts minutes beyond the hour', async (t) => {
  t.strictSame([0, 59.999, 60, 3600, 6000].map(clock), ['00:00', '00:59', '01:00', '60:00', '100:00']);
});

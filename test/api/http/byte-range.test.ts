import t from 'tap';
import { readRange } from '../../../api/http/byte-range.ts';
import { mediaTypeOf } from '../../../api/http/media-type.ts';

t.test('readRange() returns the part of one range, and everything for what a server may ignore', async (t) => {
  const part = (from: number, to: number) => ({ from, to });
  const cases = [
    ['bytes=0-0', part(0, 0)],
    ['bytes=10-19', part(10, 19)],
    ['BYTES=10-19', part(10, 19)],
    ['bytes=10-', part(10, 99)],
    ['bytes=99-200', part(99, 99)],
    ['bytes=-10', part(90, 99)],
    ['bytes=-1000', part(0, 99)],
    ['bytes=100-', 'none'],
    ['bytes=100-200', 'none'],
    ['bytes=-0', 'none'],
    ['bytes=20-10', null],
    ['bytes=-', null],
    ['bytes=0-1,5-6', null],
    ['bytes=0-1, bytes=5-6', null],
    ['bytes=a-b', null],
    ['lines=0-1', null],
    ['', null],
    [undefined, null],
  ] as const;
  for (const [header, wanted] of cases) t.strictSame(readRange(header, 100), wanted, String(header));
  t.equal(readRange('bytes=-1', 0), 'none', 'the file is empty');
});

t.test('mediaTypeOf() recognizes containers by their first bytes, and the picture by the kind of the recording', async (t) => {
  const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')));
  const cases = [
    [bytes('RIFF', [1, 2, 3, 4], 'WAVEfmt '), 'audio', 'audio/wav'],
    [bytes('RIFF', [1, 2, 10, 4], 'AVI LIST'), 'video', 'video/x-msvideo'],
    [bytes('OggS'), 'audio', 'audio/ogg'],
    [bytes([0, 0, 0, 32], 'ftypisom'), 'video', 'video/mp4'],
    [bytes([0, 0, 0, 32], 'ftypM4A '), 'audio', 'audio/mp4'],
    [bytes([0, 0, 0, 20], 'ftypqt  '), 'video', 'video/quicktime'],
    [bytes([0, 0, 0, 20], 'ftyp3gp4'), 'audio', 'audio/3gpp'],
    [bytes([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84], 'webm'), 'video', 'video/webm'],
    [bytes([0x1a, 0x45, 0xdf, 0xa3, 0xa3, 0x42, 0x82, 0x88], 'matroska'), 'audio', 'audio/x-matroska'],
    [bytes('ID3', [4, 0, 0]), 'audio', 'audio/mpeg'],
    [bytes([0xff, 0xfb, 0x90, 0x44]), 'audio', 'audio/mpeg'],
    [bytes([0xff, 0xf1, 0x50, 0x80]), 'audio', 'audio/aac'],
    [bytes('<html><script>'), 'audio', 'application/octet-stream'],
    [bytes(''), null, 'application/octet-stream'],
  ] as const;
  for (const [head, kind, type] of cases) t.equal(mediaTypeOf(head, kind), type);
});

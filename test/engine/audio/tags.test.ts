/* Recordings with longer tags than sound: pictures, lyrics and notes of programs in comments. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ffmpeg, judge } from '../hostile/bench.ts';
import { clip } from './voices.ts';

const LENGTH_BYTES = 1_520_000; // a picture in base64
const folder = t.testdir();
const at = (name: string) => join(folder, name);

t.test('decode() ignores tags of any length, of the file, its streams and its chapters', async (t) => {
  const long = `comment=${'long '.repeat(LENGTH_BYTES / 5)}`;
  const metadata = {
    file: long,
    stream: `[STREAM]\n${long}`,
    chapter: `[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\n${long.replace('comment', 'title')}`,
  };
  for (const [name, text] of Object.entries(metadata)) writeFileSync(at(`${name}.txt`), `;FFMETADATA1\n${text}\n`);
  const tagged = (name: string, of: string, ...options: string[]) =>
    ffmpeg('-i', clip('en_jfk.mp3'), '-f', 'ffmetadata', '-i', at(`${of}.txt`), '-map', '0:a', '-t', '3', ...options, at(name));
  for (const name of ['file.mp3', 'file.flac', 'file.m4a', 'file.mka']) await tagged(name, 'file', '-map_metadata', '1');
  await tagged('stream.mka', 'stream', '-map_metadata:s:a:0', '1:s:0');
  await tagged('chapter.mka', 'chapter', '-map_chapters', '1');
  for (const name of ['file.mp3', 'file.flac', 'file.m4a', 'file.mka', 'stream.mka', 'chapter.mka']) {
    const { code, seconds } = await judge(at(name));
    t.equal(code, null, name);
    t.ok(Math.abs(seconds - 3) < 0.1, `${name}: ${seconds} s`);
  }
});

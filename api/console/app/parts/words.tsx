import { Fragment } from 'preact';
import { patternsOf, spansOf } from '../finding.ts';
import type { Segment } from '../types.ts';

/** The words of a turn with their times. Words that contain a part of what is searched for are highlighted. */
export function Words({ words, search }: { words: NonNullable<Segment['words']>; search: string }) {
  const text = words.map((word) => word.text).join('');
  const hits = spansOf(text, patternsOf(search));
  let end = 0;
  return words.map((word) => {
    const from = end;
    end += word.text.length;
    const found = hits.some(([first, last]) => first < end && last > from);
    const said = word.text.trim();
    return (
      <Fragment key={`${word.start} ${word.text}`}>
        {/^\s/.test(word.text) && ' '}
        <span class="word" data-at={word.start} title={`${word.start.toFixed(2)} – ${word.end.toFixed(2)} s`}>
          {found ? <mark>{said}</mark> : said}
        </span>
      </Fragment>
    );
  });
}

import fc from 'fast-check';
import t from 'tap';
import { type Rendering, renderMarkdown } from '../../../api/markdown/render.ts';

const report = (text: string, seek?: Rendering['seek']) => renderMarkdown(text, { kind: 'report', seek });
const ALLOWED =
  /^<\/?(h[1-6]|p|ul|ol|li|table|thead|tbody|tr|th|td|strong|em|del|code|pre|br|hr|blockquote|a)( (id|href|align|start|tabindex|data-language)="[^"<>]*")*\/?>$/;

/** Tags that the browser would see. */
const tags = (html: string) => html.match(/<[^>]*>?/g) ?? [];

const HOSTILE = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '[press](javascript:alert(1))',
  '[press](JaVaScRiPt:alert(1))',
  '[press](&#106;avascript:alert(1))',
  '[press](java\tscript:alert(1))',
  '[press](data:text/html;base64,PHNjcmlwdD4=)',
  '[press](vbscript:x "title\\" onclick=alert(1)")',
  '[press](https://evil.example/"onmouseover="alert(1))',
  '<https://evil.example/?a="><script>alert(1)</script>>',
  '![picture](https://evil.example/track.png)',
  '![x" onerror="alert(1)](x)',
  '[press][1]\n\n[1]: javascript:alert(1) "title"',
  '`<b onclick=alert(1)>`',
  '```"><script>alert(1)</script>\ncode\n```',
  '| a | <img src=x onerror=alert(1)> |\n|---|---|\n| <b>x</b> | [y](javascript:1) |',
  '# <a href="javascript:alert(1)">heading</a>',
  '- [ ] <form action=/v1/app/keys method=post>',
  '<div\nonclick="alert(1)"\n>text</div>',
  '<!-- comment --><style>*{display:none}</style>',
  '[01:12](javascript:alert(1))',
];

t.test('renderMarkdown() renders a hostile report as text only, without links to its addresses', async (t) => {
  for (const text of HOSTILE) {
    for (const html of [report(text), report(text, () => '#/t/1?turn=2'), report(`> ${text}\n\n* ${text}`)]) {
      t.strictSame(
        tags(html).filter((tag) => !ALLOWED.test(tag)),
        [],
        text,
      );
      t.notMatch(html, /href="(?!#\/t\/1)/, text);
    }
  }
});

t.test('renderMarkdown() links only to http, https, mailto and pages of this site', async (t) => {
  for (const text of HOSTILE) {
    const html = renderMarkdown(text, { kind: 'page' });
    t.strictSame(
      tags(html).filter((tag) => !ALLOWED.test(tag)),
      [],
      text,
    );
    t.notMatch(html, /href="(?!https?:|mailto:|[#/])/i, text);
  }
  t.match(
    renderMarkdown('[a](/docs) [b](https://example.com/?x=1&y="2") [c](#d)', { kind: 'page' }),
    /<a href="\/docs">a<\/a> <a href="https:/,
  );
});

t.test('renderMarkdown() emits no tags but its own (property)', async (t) => {
  const piece = fc.constantFrom(
    ...HOSTILE,
    '<',
    '>',
    '"',
    "'",
    '`',
    '[',
    '](',
    ')',
    '\n',
    '\n\n',
    '    ',
    '|',
    '---',
    '*',
    '_',
    '\\',
    '&lt;',
    '&#60;',
    'word',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const html = report(pieces.join(''), () => '#/t/1');
      return tags(html).every((tag) => ALLOWED.test(tag)) && !/href="(?!#\/t\/1")/.test(html);
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

t.test('renderMarkdown() renders the Markdown that reports use', async (t) => {
  t.equal(
    report('# Tasks\n- [ ] Call **Ann**\n- [x] Send *it*'),
    '<h3>Tasks</h3>\n<ul>\n<li>☐ Call <strong>Ann</strong></li>\n<li>☑ Send <em>it</em></li>\n</ul>\n',
  );
  t.equal(report('one\ntwo'), '<p>one<br>two</p>\n');
  t.match(report('| a | b |\n|---|--:|\n| 1 | 2 |'), /<th>a<\/th>[\s\S]*<td align="right">2<\/td>/);
  t.equal(report('1 < 2 & "quoted"'), '<p>1 &lt; 2 &amp; &quot;quoted&quot;</p>\n');
  t.equal(report('see https://example.com/a'), '<p>see https://example.com/a</p>\n');
  t.equal(report('see [here](https://example.com/a)'), '<p>see here (https://example.com/a)</p>\n');
});

t.test('renderMarkdown() links a time to its turn', async (t) => {
  const seek = (seconds: number) => (seconds < 4000 ? `#/t/1?turn=${seconds}` : null);
  t.equal(report('“Yes” [01:12]', seek), '<p>“Yes” <a href="#/t/1?turn=72">[01:12]</a></p>\n');
  t.equal(report('[1:02:03] and [99:59]', seek), '<p><a href="#/t/1?turn=3723">[1:02:03]</a> and [99:59]</p>\n');
  t.equal(report('[01:12]'), '<p>[01:12]</p>\n');
});

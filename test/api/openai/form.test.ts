import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { LIMITS } from '../../../api/contract/limits.ts';
import type { Request } from '../../../api/http/request.ts';
import { readForm } from '../../../api/openai/form.ts';

const FORM_DATA = 'Content-Disposition: form-data';
/** Headers of a part. */
const KINDS = [
  `${FORM_DATA}; name="model"`,
  `${FORM_DATA}; name="file"; filename="a.mp3"`,
  `${FORM_DATA}; name="file"; filename="a.txt"`,
  `${FORM_DATA}; name="file"`,
  `${FORM_DATA}; name="cover"; filename="c.png"`,
  `${FORM_DATA}; name="a\rb"`,
  FORM_DATA,
  'Content-Disposition: attachment; filename="a.mp3"',
  'Content-Type: audio/mpeg',
  'no header',
];

/** A request whose body is this form, in chunks of `bytes`. */
function requestOf(form: string, bytes: number): Request {
  const body = Buffer.from(form);
  const consume = async (sink: (chunk: Buffer) => Promise<void>) => {
    for (let from = 0; from < body.length; from += bytes) {
      await sink(body.subarray(from, from + bytes));
      await turn();
    }
    return 'complete';
  };
  return { headers: new Map([['content-type', 'multipart/form-data; boundary=x']]), body: { consume } } as never;
}

t.test('readForm() ends whatever the parts of a form are, however it arrives and wherever it ends', async (t) => {
  const part = (headers: string, bytes: number) => `--x\r\n${headers}\r\n\r\n${'a'.repeat(bytes)}\r\n`;
  const file = part(KINDS[1]!, 20_000);
  let forms = 0;
  for (const kind of KINDS) {
    for (const bytes of [10, 40_000]) {
      const other = part(kind, bytes);
      for (const form of [other, other + file, file + other].flatMap((parts) => [`${parts}--x--\r\n`, parts, parts.slice(0, -5)])) {
        for (const chunk of [form.length, 20_000, 1_000]) {
          let received = 0;
          const sink = async (_: unknown, { length }: Buffer) => void (received += length);
          const ended = readForm(requestOf(form, chunk), LIMITS, sink).then(
            () => received % 20_000 === 0 || received === bytes || received === bytes + 20_000,
            ({ code }: { code?: string }) => code === 'invalid_form' || code === 'unsupported_file_format',
          );
          forms++;
          if (!(await ended)) t.fail(`${kind} of ${bytes} bytes in chunks of ${chunk}: ${received} bytes`);
        }
      }
    }
  }
  t.equal(forms, KINDS.length * 2 * 9 * 3);
});

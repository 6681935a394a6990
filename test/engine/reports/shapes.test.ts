import t from 'tap';
import { ABOUT, NOTES, parse, REPORT } from '../../../engine/reports/shapes.ts';

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  required?: string[];
  additionalProperties?: boolean;
  [keyword: string]: unknown;
}

const KEYWORDS = new Set(['type', 'properties', 'items', 'required', 'additionalProperties', 'enum']);

function all(schema: Schema): Schema[] {
  return [schema, ...Object.values(schema.properties ?? {}).flatMap(all), ...(schema.items ? all(schema.items) : [])];
}

t.test('schemas use only features that every server supports: all properties required, no others, no bounds', async (t) => {
  for (const { name, schema } of [REPORT, NOTES, ABOUT]) {
    for (const part of all(schema as Schema)) {
      t.strictSame(
        Object.keys(part).filter((keyword) => !KEYWORDS.has(keyword)),
        [],
        name,
      );
      t.ok(['object', 'array', 'string', 'integer'].includes(part.type!), `${name}: ${part.type}`);
      if (part.type !== 'object') continue;
      t.strictSame(part.required, Object.keys(part.properties!));
      t.equal(part.additionalProperties, false);
    }
  }
});

t.test('parse() drops malformed list entries, fills in optional fields, and rejects the rest', async (t) => {
  const item = { text: 'Send the offer', segment: 3, quote: 'I will send it' };
  const given = { sections: [{ heading: 'Tasks', items: [item, { quote: 'no text' }, 'none', { text: 'Call', segment: 1.5 }] }] };
  t.strictSame(parse(`Here it is:\n\`\`\`json\n${JSON.stringify(given)}\n\`\`\``, REPORT), {
    sections: [{ heading: 'Tasks', style: 'list', items: [item, { text: 'Call', segment: 0, quote: '' }] }],
  });
  t.strictSame(parse('{"notes":[{"text":"","segment":1},{"text":"a","segment":2}],"speakers":"none"}', NOTES), {
    notes: [{ text: 'a', segment: 2 }],
    speakers: [],
  });
  t.throws(() => parse('{"sections":[]}', REPORT), { code: 'LLM_INVALID_OUTPUT' });
  t.throws(() => parse('{"sections":"none"}', REPORT), { code: 'LLM_INVALID_OUTPUT' });
});

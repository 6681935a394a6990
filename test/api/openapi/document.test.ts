/* The OpenAPI document against its own rules and the needs of client generators. */
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import t from 'tap';
import { describeApi } from '../../../api/openapi/describe.ts';
import type { Media } from '../../../api/openapi/document.ts';
import { ROUTES } from '../../../api/v1/routes.ts';

type Json = Record<string, unknown>;

const ORIGIN = 'https://longhand.example';
const document = JSON.parse(JSON.stringify(describeApi(ROUTES, ORIGIN))) as ReturnType<typeof describeApi>;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ where: `${method.toUpperCase()} ${path}`, operation })),
);

/** Every object in the document, with its path. */
function* objects(value: unknown, place = '#'): Generator<[place: string, object: Json]> {
  if (value === null || typeof value !== 'object') return;
  if (!Array.isArray(value)) yield [place, value as Json];
  for (const [key, inner] of Object.entries(value)) if (!/^examples?$/.test(key)) yield* objects(inner, `${place}/${key}`);
}

/** Checks values against schemas of the document, without additional fields. */
function strictValidator() {
  const closed = JSON.parse(JSON.stringify(document)) as Json;
  for (const [, object] of objects(closed)) {
    if (object.properties && object.type === 'object') object.additionalProperties = false;
  }
  const ajv = new Ajv2020.default({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addFormat('double', true);
  ajv.addFormat('binary', true);
  const components = closed.components as Json;
  return (schema: unknown, value: unknown) => {
    const check = ajv.compile({ ...closeTop(schema as Json), components });
    return check(value) ? null : JSON.stringify(check.errors);
  };
}

function closeTop(schema: Json): Json {
  return schema.properties ? { ...schema, additionalProperties: false } : schema;
}

t.test('the document: every required name is among the properties', async (t) => {
  let seen = 0;
  for (const [place, { required, properties }] of objects(document)) {
    if (!Array.isArray(required)) continue;
    for (const name of required) t.ok(name in (properties as Json), `${place} ${name}`);
    seen++;
  }
  t.ok(seen > 20);
  const { Transcription } = document.components.schemas as Record<string, { properties: Json }>;
  t.ok(Transcription!.properties.id, 'as a field name, `id` is not a keyword');
});

t.test('the document: every example is valid, and has only fields of its schema', async (t) => {
  const faults = strictValidator();
  let seen = 0;
  const check = (where: string, schema: unknown, value: unknown) => {
    t.equal(faults(schema, value), null, where);
    seen++;
  };
  const media = (where: string, content: Record<string, Media> = {}) => {
    for (const [type, { schema, example, examples }] of Object.entries(content)) {
      if (example !== undefined) check(`${where} ${type}`, schema, example);
      for (const [name, one] of Object.entries(examples ?? {})) check(`${where} ${name}`, schema, (one as { value: unknown }).value);
    }
  };
  for (const { where, operation } of operations) {
    media(where, operation.requestBody?.content);
    for (const [status, response] of Object.entries(operation.responses)) media(`${where} ${status}`, response.content);
    for (const { name, schema, example } of operation.parameters) if (example !== undefined) check(`${where} ${name}`, schema, example);
  }
  t.ok(seen > 100);
  t.ok(faults({ $ref: '#/components/schemas/Author' }, { id: 'x' }), 'the check can fail');
});

t.test('the document: generators can process all of it', async (t) => {
  for (const [place, object] of objects(document)) {
    t.notOk(object.allOf, `${place}: allOf becomes a class of its own`);
    if (Array.isArray(object.enum)) t.notOk(object.enum.includes(null), `${place}: null in an enum`);
    if ([object.type].flat().includes('number')) t.equal(object.format, 'double', `${place}: float32 by default`);
    if (object.format) t.notOk(object.pattern, `${place}: pattern beside format`);
    if (object.format === 'binary') t.notOk('minLength' in object, `${place}: length of a stream`);
    for (const bound of ['minimum', 'maximum']) t.not(Math.abs(Number(object[bound])), Number.MAX_SAFE_INTEGER, place);
    t.notOk(object.contentMediaType, `${place}: becomes a file`);
  }
  const names = Object.keys(document.components.schemas);
  for (const name of names) t.notOk(names.includes(`New${name}`), `New${name} is a constructor of ${name} in Go`);
  t.notMatch(JSON.stringify(document), /text\/html/);
});

t.test('the document: refusals are plain Errors, with their codes listed beside them', async (t) => {
  for (const { where, operation } of operations) {
    for (const [status, { content, 'x-codes': codes }] of Object.entries(operation.responses)) {
      if (Number(status) < 400) continue;
      const shape = (operation.tags as string[]).includes('OpenAI') ? 'OpenAiError' : 'Error';
      t.strictSame(content!['application/json']!.schema, { $ref: `#/components/schemas/${shape}` }, `${where} ${status}`);
      t.ok(codes?.length, `${where} ${status}`);
    }
  }
});

t.test('the document: exports are files, in every format', async (t) => {
  for (const path of [
    '/transcriptions/{id}/export',
    '/transcriptions/{id}/subtitles',
    '/transcriptions/{id}/recording',
    '/transcriptions/export',
  ]) {
    for (const operation of Object.values(document.paths[path]!))
      for (const [type, { schema }] of Object.entries(operation.responses[200]!.content!))
        t.strictSame(schema, { type: 'string', format: 'binary' }, `${path} ${type}`);
  }
});

t.test('the document: defaults, choices and filters are described', async (t) => {
  const parameter = (path: string, method: string, name: string) =>
    document.paths[path]![method]!.parameters.find((one) => one.name === name)!;
  t.equal(parameter('/transcriptions', 'get', 'limit').schema.default, 20);
  t.equal(parameter('/transcriptions', 'get', 'offset').schema.default, 0);
  t.equal(parameter('/transcriptions', 'get', 'status').schema.default, 'completed');
  t.equal(parameter('/transcriptions/{id}', 'get', 'words').schema.default, false);
  t.match(parameter('/transcriptions', 'post', 'language').schema, { type: 'string', default: 'auto' });
  t.equal(parameter('/transcriptions', 'post', 'language').schema.enum!.length, 100);
  t.match(parameter('/transcriptions', 'get', 'metadata'), { style: 'deepObject', explode: true, schema: { type: 'object' } });
});

t.test('the document: names its server, contact and licence, and describes its tags and operations', async (t) => {
  t.strictSame(document.servers[0]!.url, `${ORIGIN}/v1`);
  t.match(document.info, { license: { name: 'MIT' }, contact: { url: ORIGIN } });
  for (const tag of document.tags as { name: string; description: string }[]) t.ok(tag.description, tag.name);
  for (const { where, operation } of operations) {
    t.match(operation.operationId, /^[a-z]+([A-Z][a-z]+)+$/, where);
    t.ok(operation.description, where);
    t.strictSame(
      (operation.tags as string[]).filter((name) => !(document.tags as { name: string }[]).some((tag) => tag.name === name)),
      [],
    );
  }
});

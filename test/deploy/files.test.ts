import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { readSettings } from '../../api/contract/settings.ts';
import { clips, DATA } from '../../bench/recordings/clips.ts';
import { ROOT } from '../support/processes/processes.ts';
import { COMMANDS, DEPLOY, known, read } from './shipped.ts';

// biome-ignore lint/suspicious/noExplicitAny: a file format of another program
const compose: any = parse(read('compose.yaml'), { merge: true });
const ignored = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
const inImage = (file: string) => !ignored.some((entry) => file === entry || file.startsWith(`${entry}/`));

t.test('compose.yaml starts existing parts with existing settings, the migration first, and isolates the engine', async (t) => {
  for (const [name, service] of Object.entries<typeof compose>(compose.services)) {
    if (name === 'postgres') continue;
    const [command] = [...(service.entrypoint?.slice(1) ?? []), ...service.command];
    t.ok([...COMMANDS, 'models'].includes(command), `${name} runs ${command}`);
    t.ok(existsSync(path.resolve(DEPLOY, service.build.context, service.build.dockerfile)));
    for (const setting of Object.keys(service.environment)) t.ok(known(setting), setting);
  }
  const { api, engine, courier, migrate } = compose.services;
  for (const part of [api, engine, courier]) t.equal(part.depends_on.migrate.condition, 'service_completed_successfully');
  t.equal(migrate.depends_on.postgres.condition, 'service_healthy');
  t.strictSame(engine.networks, ['inside']);
  t.equal(compose.networks.inside.internal, true);
  t.ok(courier.networks.includes('default') && courier.networks.includes('inside'), 'the courier has internet access');
  t.strictSame(courier.volumes, undefined, 'and no access to recordings');
  for (const [name, { environment, networks }] of Object.entries<typeof compose>(compose.services))
    t.equal(
      'LLM_API_KEY' in environment,
      name === 'courier',
      `${name}, in ${networks}: only the courier has the API key of the language model`,
    );
  t.match(api.ports, [/^127\.0\.0\.1:8080:/, /^127\.0\.0\.1:9464:/], 'only this machine can connect');
  t.match(api.healthcheck.test.join(' '), /:8080\/readyz'/, 'an API without its spool is not healthy');
});

t.test('compose.yaml: settings that the shell does not set have their defaults', async (t) => {
  for (const [name, { environment }] of Object.entries<typeof compose>(compose.services)) {
    if (name === 'postgres') continue;
    const set = Object.entries<string>(environment).map(([setting, value]) => [
      setting,
      value.replace(/\$\{\w+(:-(\w*)|:\?[^}]*)\}/g, '$2'),
    ]);
    t.match(readSettings(Object.fromEntries(set)), { LONGHAND_MODEL: 'whisper-base', LONGHAND_DEVICE: 'auto' }, name);
  }
});

t.test('compose.yaml keeps the models that engines use in a volume, into which a part with internet access downloads them', async (t) => {
  const { models, engine } = compose.services;
  const [volume] = models.volumes;
  t.equal(volume, 'models:/var/lib/longhand/models');
  t.ok(engine.volumes.includes(volume));
  t.ok('models' in compose.volumes);
  t.strictSame([models.entrypoint, models.networks], [['/app/scripts/longhand', 'models'], ['default']]);
  t.strictSame(Object.keys(models.environment), ['LONGHAND_THREADS'], 'it has no keys');
  t.ok(models.profiles.length, '`up` does not start it');
  for (const name of ['LONGHAND_MODEL', 'LONGHAND_MODELS']) t.ok(engine.environment[name].includes(name), name);
});

t.test('Dockerfile creates every mount point of compose.yaml for the account that it runs as', async (t) => {
  const [before = ''] = read('Dockerfile').split(/^USER longhand$/m);
  const [, home] = /--create-home --home-dir (\S+) longhand$/m.exec(before) ?? [];
  const [, folders = ''] = /^RUN install --directory --owner=longhand --group=longhand --mode=700 (.+)$/m.exec(before) ?? [];
  const own = [home, ...folders.split(' ')];
  const [, state] = /^ENV LONGHAND_HOME=(\S+)/m.exec(read('Dockerfile'))!;
  t.ok(own.includes(state), `${state} is created`);
  const services = Object.entries<typeof compose>(compose.services).filter(([name]) => name !== 'postgres');
  const targets = services.flatMap(([, { volumes = [] }]) => volumes.map((volume: string) => volume.split(':')[1]));
  t.ok(targets.length > 2);
  for (const target of targets)
    t.ok(own.includes(target), `${target}: Docker would create it for root, and nothing could be written to it`);
  t.ok(own.includes(compose.services.api.environment.LONGHAND_MEDIA));
});

t.test('pages and comments print the mandatory variables with the command that needs them', async (t) => {
  const mandatory = [...new Set([...read('compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name!))];
  t.ok(mandatory.length);
  for (const name of ['README.md', 'docs/deployment.md', 'scripts/deploy/compose.yaml']) {
    const [before = '', after] = readFileSync(path.join(ROOT, name), 'utf8').split(/docker compose -f scripts\/deploy\/compose\.yaml up/);
    t.ok(after, `${name} has the command`);
    for (const variable of mandatory) t.ok(new RegExp(`export .*\\b${variable}=`).test(before), `${name}: ${variable}`);
  }
});

t.test('.dockerignore keeps what the self-check of models reads, and leaves out state, secrets and what is built here', async (t) => {
  const recordings = clips().map(({ path: file }) => path.relative(ROOT, file));
  t.ok(recordings.length > 50);
  for (const file of [...recordings, path.relative(ROOT, path.join(DATA, 'MANIFEST.tsv'))]) t.ok(inImage(file), file);
  for (const file of ['.env', '.gpu/lib', '.longhand/master.key', 'node_modules/tap']) t.notOk(inImage(file), file);
});

t.test('Dockerfile copies existing files and runs as an account other than root', async (t) => {
  const text = read('Dockerfile');
  t.match(text, /^USER longhand$/m);
  t.match(text, /^ENTRYPOINT \["\/app\/scripts\/longhand"\]$/m);
  const copied = [...text.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, names]) => names!.split(' '));
  t.ok(copied.includes('.'));
  const tracked = new Set(execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n'));
  for (const name of copied.filter((name) => name !== '.')) {
    t.ok(
      [...tracked].some((file) => file === name || file.startsWith(`${name}/`)),
      `${name} is committed`,
    );
  }
  for (const name of ['api', 'db', 'engine', 'models', 'scripts', 'package.json']) {
    t.ok(inImage(name), `${name} is not excluded from the image`);
  }
});

t.test('images of others are pinned by version and digest', async (t) => {
  const used = [
    ...read('Dockerfile').matchAll(/^FROM (\S+)/gm),
    ...['compose.yaml', 'compose.gpu.yaml'].flatMap((file) => [...read(file).matchAll(/^ *image: (\S+)/gm)]),
  ];
  const others = used.map(([, image]) => image!).filter((image) => !/^longhand(:gpu)?$/.test(image));
  t.equal(others.length, 2, 'Node and PostgreSQL');
  for (const image of others) t.match(image, /^\w+:\d+(\.\d+)+(-[a-z-]+)?@sha256:[0-9a-f]{64}$/);
});

t.test('compose.gpu.yaml gives the engine a GPU and an image with the GPU libraries, and starts with the included model', async (t) => {
  // biome-ignore lint/suspicious/noExplicitAny: a file format of another program
  const { engine }: any = parse(read('compose.gpu.yaml')).services;
  t.equal(engine.build.args.GPU, '1');
  t.match(read('Dockerfile'), /^ARG GPU=0\nRUN .*"\$GPU" = 1.*scripts\/longhand gpu install --no-check/m);
  t.notOk(engine.environment, 'LONGHAND_DEVICE stays auto: with cuda, an engine refuses int8 models');
  const command = /compose run .*models (import .*)/.exec(read('compose.gpu.yaml'))![1]!;
  t.match([command, read('compose.gpu.yaml')], [/^import whisper-base --variant float16$/, /LONGHAND_MODEL=whisper-base-float16\n/]);
  t.match(engine.deploy.resources.reservations.devices, [{ driver: 'nvidia', capabilities: ['gpu'] }]);
});

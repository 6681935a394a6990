import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { SETTING_NAMES } from '../../api/contract/settings.ts';
import { finish, ROOT } from '../support/processes.ts';
import { findProgram } from '../support/programs.ts';

const DEPLOY = path.join(ROOT, 'scripts', 'deploy');
const read = (name: string) => readFileSync(path.join(DEPLOY, name), 'utf8');
const COMMANDS = ['up', 'api', 'engine', 'migrate'];
const OTHERS = ['POSTGRES_PASSWORD', 'POSTGRES_USER', 'POSTGRES_DB'];
const known = (name: string) => SETTING_NAMES.includes(name) || OTHERS.includes(name) || /^AWS_/.test(name);

t.test('compose.yaml starts parts that exist with settings that exist, the migration first, the engine cut off', async (t) => {
  // biome-ignore lint/suspicious/noExplicitAny: a file of another program
  const compose: any = parse(read('compose.yaml'), { merge: true });
  for (const [name, service] of Object.entries<typeof compose>(compose.services)) {
    if (name === 'postgres') continue;
    t.ok(COMMANDS.includes(service.command[0]), `${name} runs ${service.command[0]}`);
    t.ok(existsSync(path.resolve(DEPLOY, service.build.context, service.build.dockerfile)));
    for (const setting of Object.keys(service.environment)) t.ok(known(setting), setting);
  }
  const { api, engine, migrate } = compose.services;
  for (const part of [api, engine]) t.equal(part.depends_on.migrate.condition, 'service_completed_successfully');
  t.equal(migrate.depends_on.postgres.condition, 'service_healthy');
  t.strictSame(engine.networks, ['inside']);
  t.equal(compose.networks.inside.internal, true);
  t.match(api.ports, [/^127\.0\.0\.1:/], 'only the proxy reaches it');
});

t.test('the systemd units start parts that exist, with a file of settings that exist', async (t) => {
  for (const part of ['api', 'engine']) {
    const unit = read(`systemd/longhand-${part}.service`);
    t.match(unit, `ExecStart=/opt/longhand/scripts/longhand ${part}\n`);
    for (const line of ['User=longhand', 'NoNewPrivileges=yes', 'ProtectSystem=strict', 'KillSignal=SIGTERM']) t.match(unit, `\n${line}\n`);
  }
  const names = [...read('systemd/longhand.env').matchAll(/^(\w+)=/gm)].map(([, name]) => name!);
  t.ok(names.length > 3);
  for (const name of names) t.ok(known(name), name);
});

const analyze = findProgram('systemd-analyze');
t.test('systemd accepts the units', { skip: !analyze && 'systemd-analyze is not installed' }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'longhand-units-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const part of ['api', 'engine']) {
    const file = path.join(folder, `longhand-${part}.service`);
    writeFileSync(file, read(`systemd/longhand-${part}.service`).replaceAll('/opt/longhand/scripts/longhand', '/bin/true'));
    const { stdout, stderr } = await finish(analyze!, ['verify', file]);
    t.notMatch(stdout + stderr, new RegExp(`longhand-${part}\\.service:\\d+|Unknown`), stdout + stderr);
  }
});

t.test('the Dockerfile copies what is there, as an account that is not root', async (t) => {
  const text = read('Dockerfile');
  t.match(text, /^USER longhand$/m);
  t.match(text, /^ENTRYPOINT \["\/app\/scripts\/longhand"\]$/m);
  const copied = [...text.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, names]) => names!.split(' '));
  t.ok(copied.includes('.'));
  const tracked = new Set(execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n'));
  for (const name of copied.filter((name) => name !== '.')) {
    t.ok(
      [...tracked].some((file) => file === name || file.startsWith(`${name}/`)),
      `${name} is in the repository`,
    );
  }
  for (const name of ['api', 'db', 'engine', 'models', 'scripts', 'package.json']) {
    t.notOk(readFileSync(path.join(ROOT, '.dockerignore'), 'utf8').split('\n').includes(name), `${name} is in the image`);
  }
});

const helm = findProgram('helm');
t.test('the Helm chart is without fault and renders', { skip: !helm && 'helm is not installed' }, async (t) => {
  const chart = path.join(DEPLOY, 'helm', 'longhand');
  const lint = await finish(helm!, ['lint', '--strict', chart]);
  t.equal(lint.code, 0, lint.stdout + lint.stderr);
  const { code, stdout, stderr } = await finish(helm!, ['template', 'here', chart]);
  t.equal(code, 0, stderr);
  // biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes
  const objects: any[] = parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .filter(Boolean);
  const kinds = objects.map(({ kind }) => kind);
  for (const kind of ['Deployment', 'Service', 'Job', 'NetworkPolicy', 'PersistentVolumeClaim']) t.ok(kinds.includes(kind), kind);
  const pods = objects.filter(({ spec }) => spec?.template?.spec?.containers).map(({ spec }) => spec.template.spec);
  t.ok(pods.length >= 3);
  for (const { containers } of pods) {
    for (const { args = [], env = [] } of containers) {
      t.ok(COMMANDS.includes(args[0]), `it runs ${args[0]}`);
      for (const { name } of env) t.ok(known(name), name);
    }
  }
});

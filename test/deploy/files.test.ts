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
const COMMANDS = ['up', 'api', 'engine', 'courier', 'migrate'];
const PARTS = ['api', 'engine', 'courier'];
const OTHERS = ['POSTGRES_PASSWORD', 'POSTGRES_USER', 'POSTGRES_DB'];
const known = (name: string) => SETTING_NAMES.includes(name) || OTHERS.includes(name) || /^AWS_/.test(name);

t.test('compose.yaml starts existing parts with existing settings, the migration first, and isolates the engine', async (t) => {
  // biome-ignore lint/suspicious/noExplicitAny: a file format of another program
  const compose: any = parse(read('compose.yaml'), { merge: true });
  for (const [name, service] of Object.entries<typeof compose>(compose.services)) {
    if (name === 'postgres') continue;
    t.ok(COMMANDS.includes(service.command[0]), `${name} runs ${service.command[0]}`);
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
});

t.test('systemd units start existing parts with a file of existing settings', async (t) => {
  for (const part of PARTS) {
    const unit = read(`systemd/longhand-${part}.service`);
    t.match(unit, `ExecStart=/opt/longhand/scripts/longhand ${part}\n`);
    for (const line of ['User=longhand', 'NoNewPrivileges=yes', 'ProtectSystem=strict', 'KillSignal=SIGTERM']) t.match(unit, `\n${line}\n`);
  }
  const names = [...read('systemd/longhand.env').matchAll(/^(\w+)=/gm)].map(([, name]) => name!);
  t.ok(names.length > 3);
  for (const name of names) t.ok(known(name), name);
});

const analyze = findProgram('systemd-analyze');
t.test('systemd units are accepted by systemd-analyze', { skip: !analyze && 'systemd-analyze is not installed' }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'longhand-units-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const part of PARTS) {
    const file = path.join(folder, `longhand-${part}.service`);
    writeFileSync(file, read(`systemd/longhand-${part}.service`).replaceAll('/opt/longhand/scripts/longhand', '/bin/true'));
    const { stdout, stderr } = await finish(analyze!, ['verify', file]);
    t.notMatch(stdout + stderr, new RegExp(`longhand-${part}\\.service:\\d+|Unknown`), stdout + stderr);
  }
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
    t.notOk(readFileSync(path.join(ROOT, '.dockerignore'), 'utf8').split('\n').includes(name), `${name} is not excluded from the image`);
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

t.test('compose.gpu.yaml gives the engine a GPU and an image with the GPU libraries', async (t) => {
  // biome-ignore lint/suspicious/noExplicitAny: a file format of another program
  const { engine }: any = parse(read('compose.gpu.yaml')).services;
  t.equal(engine.build.args.GPU, '1');
  t.match(read('Dockerfile'), /^ARG GPU=0\nRUN .*"\$GPU" = 1.*scripts\/longhand gpu install --no-check/m);
  t.equal(engine.environment.LONGHAND_DEVICE, 'cuda');
  t.match(engine.deploy.resources.reservations.devices, [{ driver: 'nvidia', capabilities: ['gpu'] }]);
});

const helm = findProgram('helm');
const CHART = path.join(DEPLOY, 'helm', 'longhand');

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes
type Objects = any[];

/** Objects that the chart renders with these values. */
async function render(...sets: string[]): Promise<Objects> {
  const { code, stdout, stderr } = await finish(helm!, ['template', 'here', CHART, ...sets.flatMap((set) => ['--set', set])]);
  if (code !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .filter(Boolean);
}

const policyOf = (objects: Objects, part: string) =>
  objects.find(({ kind, spec }) => kind === 'NetworkPolicy' && spec.podSelector.matchLabels['app.kubernetes.io/component'] === part).spec;
const podsOf = (objects: Objects) => objects.filter(({ spec }) => spec?.template?.spec?.containers).map(({ spec }) => spec.template);

t.test('Helm chart passes lint and renders', { skip: !helm && 'helm is not installed' }, async (t) => {
  const lint = await finish(helm!, ['lint', '--strict', CHART]);
  t.equal(lint.code, 0, lint.stdout + lint.stderr);
  const objects = await render('courier.secretName=model', 'courier.env.LLM_MODEL=m', 'env.LOG_LEVEL=warn');
  const kinds = objects.map(({ kind }) => kind);
  for (const kind of ['Deployment', 'Service', 'Job', 'NetworkPolicy', 'PersistentVolumeClaim']) t.ok(kinds.includes(kind), kind);
  const pods = podsOf(objects);
  t.strictSame(pods.map(({ spec }) => spec.containers[0].args[0]).sort(), ['api', 'courier', 'engine', 'migrate']);
  for (const { spec } of pods) {
    for (const { args, env } of spec.containers) {
      t.ok(COMMANDS.includes(args[0]), `it runs ${args[0]}`);
      for (const { name } of env) t.ok(known(name), name);
      t.equal(
        env.some(({ name }: { name: string }) => name === 'LLM_API_KEY'),
        args[0] === 'courier',
        `${args[0]}: only the courier has the API key of the language model`,
      );
    }
  }
});

t.test(
  'Helm chart gives pods no Kubernetes token, no service variables, no capabilities and a read-only root file system',
  { skip: !helm && 'helm is not installed' },
  async (t) => {
    for (const { spec } of podsOf(await render())) {
      const [container] = spec.containers;
      const name = container.args[0];
      t.equal(spec.automountServiceAccountToken, false, name);
      t.equal(
        spec.enableServiceLinks,
        false,
        `${name}: the variable LONGHAND_PORT of a service named longhand would be rejected as an unknown setting`,
      );
      t.match(container.securityContext, {
        ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsNonRoot: true },
        capabilities: { drop: ['ALL'] },
      });
    }
  },
);

t.test(
  'Helm chart: network policies allow the engine the database and the courier the internet',
  { skip: !helm && 'helm is not installed' },
  async (t) => {
    const objects = await render('network.database.to[0].ipBlock.cidr=10.1.2.3/32');
    const ports = (rules: Objects) => rules.map(({ ports }) => ports?.map(({ port }: { port: number }) => port) ?? 'all');
    const engine = policyOf(objects, 'engine');
    t.strictSame(engine.policyTypes, ['Ingress', 'Egress']);
    t.strictSame(engine.ingress, [], 'no inbound connections');
    t.strictSame(ports(engine.egress), [[53, 53], [5432]]);
    t.strictSame(engine.egress[1].to, [{ ipBlock: { cidr: '10.1.2.3/32' } }]);
    t.match(engine.egress[0].to, [{ namespaceSelector: Object }], 'DNS is restricted to the cluster');
    t.strictSame(ports(policyOf(objects, 'migrate').egress), [[53, 53], [5432]]);
    const courier = policyOf(objects, 'courier');
    t.strictSame(courier.ingress, []);
    const [world, world6] = courier.egress[2].to;
    t.equal(world.ipBlock.cidr, '0.0.0.0/0');
    t.equal(world6.ipBlock.cidr, '::/0');
    for (const inside of ['10.0.0.0/8', '169.254.0.0/16', '192.168.0.0/16']) t.ok(world.ipBlock.except.includes(inside), inside);
    const api = policyOf(objects, 'api');
    t.strictSame(ports(api.ingress), [[8080], [9464]]);
    t.ok(api.ingress[1].from.length, '/metrics is restricted to the monitoring namespace');
    const selected = podsOf(objects).map(({ metadata }) => metadata.labels['app.kubernetes.io/component']);
    for (const part of ['api', 'engine', 'courier', 'migrate']) t.ok(selected.includes(part), `the policy of ${part} selects a pod`);
  },
);

t.test(
  'Helm chart: network policies allow engines the object store only if it is configured',
  { skip: !helm && 'helm is not installed' },
  async (t) => {
    await t.rejects(render('media=s3://bucket/x'), /network\.store\.to must name the S3 store/);
    const objects = await render('media=s3://bucket/x', 'network.store.to[0].ipBlock.cidr=10.9.0.0/16');
    t.match(policyOf(objects, 'engine').egress[2], { ports: [{ port: 443 }], to: [{ ipBlock: { cidr: '10.9.0.0/16' } }] });
    t.notOk((await render('network.enabled=false')).some(({ kind }) => kind === 'NetworkPolicy'));
  },
);

t.test(
  'engine.gpu.enabled of the Helm chart gives each engine one GPU and its image',
  { skip: !helm && 'helm is not installed' },
  async (t) => {
    const engines = async (...sets: string[]) =>
      podsOf(await render(...sets)).find(({ spec }) => spec.containers[0].args[0] === 'engine').spec.containers[0];
    t.match(await engines('engine.gpu.enabled=true'), {
      image: 'longhand:1.1.0-gpu',
      resources: { limits: { 'nvidia.com/gpu': 1, memory: '3Gi' } },
    });
    const plain = await engines();
    t.equal(plain.image, 'longhand:1.1.0');
    t.notOk('nvidia.com/gpu' in plain.resources.limits);
  },
);

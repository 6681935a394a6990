import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { finish, ROOT } from '../support/processes/processes.ts';
import { findProgram } from '../support/processes/programs.ts';
import { COMMANDS, DEPLOY, known, read } from './shipped.ts';

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

const PAGE = readFileSync(path.join(ROOT, 'docs/deployment.md'), 'utf8');

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
    const pushed = ['engine.gpu.enabled=true', 'image.repository=registry/longhand', 'image.tag=2'];
    t.equal((await engines(...pushed)).image, 'registry/longhand:2-gpu', 'one registry for both images');
    t.equal((await engines(...pushed, 'engine.gpu.image.repository=gpu', 'engine.gpu.image.tag=3')).image, 'gpu:3');
    const plain = await engines();
    t.equal(plain.image, 'longhand:1.1.0');
    t.notOk('nvidia.com/gpu' in plain.resources.limits);
  },
);

t.test(
  'models.enabled of the Helm chart keeps models in a claim that engines share',
  { skip: !helm && 'helm is not installed' },
  async (t) => {
    const claims = (objects: Objects) =>
      objects.filter(({ kind }) => kind === 'PersistentVolumeClaim').map(({ metadata }) => metadata.name);
    t.strictSame(claims(await render()), ['here-spool']);
    const objects = await render('models.enabled=true');
    t.strictSame(claims(objects).sort(), ['here-models', 'here-spool']);
    t.strictSame(claims(await render('models.enabled=true', 'models.existingClaim=ours')), ['here-spool']);
    for (const { spec } of podsOf(objects)) {
      const [{ args, volumeMounts }] = spec.containers;
      const mounted = volumeMounts.some(({ mountPath }: { mountPath: string }) => mountPath === '/var/lib/longhand/models');
      t.equal(mounted, args[0] === 'engine', args[0]);
    }
  },
);

t.test(
  'models.run of the Helm chart is a job with internet access that has the models and nothing else',
  { skip: !helm && 'helm is not installed' },
  async (t) => {
    await t.rejects(render('models.run=pull small'), /models.run needs models.enabled=true/);
    const objects = await render('models.enabled=true', 'models.run=pull openai/whisper-small@main');
    const job = objects.find(({ metadata }) => metadata.name === 'here-models-pull-openai-whisper-small-main').spec.template;
    t.notOk(job.spec.containers[0].envFrom, 'no keys');
    t.match(job.spec, {
      containers: [{ args: ['models', 'pull', 'openai/whisper-small@main'], image: 'longhand:1.1.0' }],
      volumes: [{ name: 'home' }, { name: 'tmp' }, { name: 'models', persistentVolumeClaim: { claimName: 'here-models' } }],
    });
    t.equal(job.spec.volumes.length, 3);
    const { ingress, egress } = policyOf(objects, 'models');
    t.strictSame(ingress, []);
    t.match(egress, [{ ports: [{ port: 53 }, { port: 53 }] }, { to: [{ ipBlock: { cidr: '0.0.0.0/0' } }, { ipBlock: { cidr: '::/0' } }] }]);
    t.notOk(
      await render('models.enabled=true').then((all) => all.some(({ metadata }) => /models-/.test(metadata.name))),
      'none in a release',
    );
  },
);

t.test('the page on deployment builds the images whose names the chart uses', async (t) => {
  const { image, engine } = parse(read('helm/longhand/values.yaml'));
  const { appVersion } = parse(read('helm/longhand/Chart.yaml'));
  t.equal(image.tag, appVersion);
  for (const command of ['docker build -f scripts/deploy/Dockerfile -t', 'docker push'])
    t.ok(PAGE.includes(`${command} REGISTRY/longhand:${image.tag}`), command);
  t.ok(PAGE.includes(`REGISTRY/longhand:${image.tag}-gpu`) && !engine.gpu.image.tag);
});

t.test(
  'the page on deployment names workloads and secrets of the chart, in which the command line is found',
  { skip: !helm && 'helm is not installed' },
  async (t) => {
    const [, release, place] = /^helm install (\S+) (\S+)/m.exec(PAGE)!;
    const { stdout } = await finish(helm!, ['template', release!, path.join(ROOT, place!)]);
    const objects: Objects = parseAllDocuments(stdout).map((document) => document.toJS());
    const named = [...PAGE.matchAll(/^longhand\(\) \{ kubectl exec deploy\/(\S+) -- (\S+) /gm)];
    t.equal(named.length, 1, 'a first key can be created');
    for (const [, name, command] of named) {
      const { spec } = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
      t.ok(spec.template.spec.containers[0].envFrom, 'with the settings');
      t.match(readFileSync(path.join(DEPLOY, 'Dockerfile'), 'utf8'), `ENTRYPOINT ["${command}"]`);
    }
    for (const [, secret] of PAGE.matchAll(/^kubectl (?:create secret generic|get secret) (\S+)/gm))
      t.match(objects.find(({ kind }) => kind === 'Deployment').spec.template.spec.containers[0].envFrom, [
        { secretRef: { name: secret } },
      ]);
  },
);

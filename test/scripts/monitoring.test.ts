import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { testApi } from '../support/api/client.ts';
import { finish, ROOT } from '../support/processes/processes.ts';
import { findProgram } from '../support/processes/programs.ts';

const deploy = (name: string) => readFileSync(join(ROOT, 'scripts/deploy', name), 'utf8');
const dashboard = JSON.parse(deploy('grafana-dashboard.json')) as {
  panels: { title: string; targets: { expr: string; legendFormat: string }[] }[];
};
const { groups } = parse(deploy('alerts.yaml')) as {
  groups: {
    rules: { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string; description: string } }[];
  }[];
};
const rules = groups.flatMap((group) => group.rules);
const panels = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr, legendFormat }) => ({ name: title, expr, legend: legendFormat })),
);

/** The metrics page of the API of a busy installation. */
async function page(test: { teardown(after: () => unknown): void }): Promise<string> {
  const api = await testApi(test);
  const owner = await api.world.member(await api.world.workspace(), { role: 'owner' });
  const { key } = await api.world.key(owner);
  await api.call(key, 'GET', '/v1/workspace');
  await api.db.acrossTenants((tx) =>
    tx.rows(
      `insert into engines (id, host, pid, device, model, last_poll, writing, recognised)
       values (?, 'h', 1, 'cpu', 'whisper-base', now(), ?::jsonb, ?::jsonb)`,
      [
        randomUUID(),
        JSON.stringify({ model: 'm', calls: { ok: 3, timeout: 1 }, promptTokens: 900, completionTokens: 80, seconds: 4.5, dropped: 2 }),
        JSON.stringify({ 'gigaam-v3': { seconds: 60, failed: 1, unsure: 2 } }),
      ],
    ),
  );
  return api.metrics();
}

/** Every metric with its labels. */
async function shown(test: { teardown(after: () => unknown): void }): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  for (const [, name, labels = ''] of (await page(test)).matchAll(/^(longhand_\w+)(?:\{(.*)\})? /gm))
    found.set(name!, new Set([...labels.matchAll(/(\w+)="/g)].map((label) => label[1]!)));
  return found;
}

t.test('the dashboard and the alert rules use only existing metrics and labels, and every one of them', async (t) => {
  const metrics = await shown(t);
  const asked = new Set<string>();
  for (const { name, expr, legend = '' } of [
    ...panels,
    ...rules.map(({ alert, expr, annotations }) => ({ name: alert, expr, legend: annotations.summary })),
  ]) {
    const labels = new Set(['instance']); // added by Prometheus
    for (const metric of expr.match(/longhand_\w+/g) ?? []) {
      asked.add(metric);
      t.ok(metrics.has(metric), `${name}: ${metric}`);
      for (const label of metrics.get(metric) ?? []) labels.add(label);
    }
    const used = [...expr.matchAll(/(\w+)=~?"/g), ...legend.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/g)].map((match) => match[1]!);
    const by = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap((match) => match[1]!.split(/, */));
    for (const label of [...used, ...by]) t.ok(labels.has(label), `${name}: label ${label}`);
  }
  const own = [...metrics.keys()].filter((name) => !name.startsWith('longhand_api_'));
  t.strictSame(
    own.filter((name) => !asked.has(name)),
    [],
    'every metric of the service is used',
  );
});

t.test('every alert states its severity, what happened and what to do', async (t) => {
  t.ok(rules.length >= 8);
  for (const { alert, labels, annotations } of rules) {
    t.match(alert, /^Longhand\w+$/);
    t.match(labels, { severity: /^(warning|critical)$/ }, alert);
    t.ok(annotations.summary.length > 10 && annotations.description.length > 20, alert);
  }
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
});

const promtool = findProgram('promtool');
t.test('Prometheus accepts the alert rules', { skip: !promtool && 'promtool is not installed' }, async (t) => {
  const { code, stdout, stderr } = await finish(promtool!, ['check', 'rules', join(ROOT, 'scripts/deploy/alerts.yaml')]);
  t.equal(code, 0, stderr);
  t.match(stdout, `${rules.length} rules found`);
});

t.test('Prometheus accepts the metrics', { skip: !promtool && 'promtool is not installed' }, async (t) => {
  const file = join(t.testdir({ metrics: await page(t) }), 'metrics');
  const { code, stdout, stderr } = await finish('sh', ['-c', `"${promtool}" check metrics <"${file}"`]);
  t.ok(code === 0 || code === 3, 'promtool parsed the page'); // 3: with lint warnings
  const taken = /^longhand_api_|use base unit "seconds" instead of "minutes"/; // names given by prom-client; minutes are the unit of charges
  const advice = `${stdout}${stderr}`.split('\n').filter((line) => line && !taken.test(line));
  t.strictSame(advice, []);
});

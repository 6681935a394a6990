import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import t from 'tap';
import { testDatabase } from '../support/databases/database.ts';
import { finish, LONGHAND, ROOT, start } from '../support/processes/processes.ts';
import { findProgram } from '../support/processes/programs.ts';
import { DEPLOY, known, read } from './shipped.ts';

const PARTS = ['api', 'engine', 'courier'];
const DROP_IN = 'longhand-engine-gpu.conf';

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
  const dropIns = path.join(folder, 'longhand-engine.service.d');
  mkdirSync(dropIns);
  copyFileSync(path.join(DEPLOY, 'systemd', DROP_IN), path.join(dropIns, 'gpu.conf'));
  const { stdout, stderr } = await finish(analyze!, ['verify', path.join(folder, 'longhand-engine.service')]);
  t.notMatch(stdout + stderr, /gpu\.conf:\d+|Unknown/, stdout + stderr);
});

t.test('the drop-in for GPUs shows the devices that the unit of the engine hides', async (t) => {
  t.match(read('systemd/longhand-engine.service'), /^PrivateDevices=yes$/m);
  t.match(read(`systemd/${DROP_IN}`), /^\[Service\]\nPrivateDevices=no$/m);
  t.match(
    readFileSync(path.join(ROOT, 'docs/deployment.md'), 'utf8'),
    `systemd/${DROP_IN} /etc/systemd/system/longhand-engine.service.d/gpu.conf`,
  );
});

t.test('longhand.env starts an API on a fresh host, and the printed commands use it', async (t) => {
  const { url } = await testDatabase(t);
  const folder = mkdtempSync(path.join(tmpdir(), 'longhand-host-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'longhand.env');
  const home = path.join(folder, 'home');
  const shipped = read('systemd/longhand.env').replaceAll('/var/lib/longhand', home).replace('PORT=8080', 'PORT=0');
  writeFileSync(file, shipped.replace(/postgres:[^']*/, url));
  writeFileSync(path.join(folder, 'sudo'), '#!/bin/sh\nshift 2\nexec "$@"\n', { mode: 0o755 }); // as the same account
  const [, script] = /<!-- step: systemd -->\n```sh\n([\s\S]*?)```/.exec(readFileSync(path.join(ROOT, 'docs/deployment.md'), 'utf8'))!;
  const here = script!.replace('/etc/longhand.env', file).replace('/opt/longhand/scripts/longhand', LONGHAND);
  const more = 'longhand admin workspace create --name "A team" --json';
  const { code, stdout, stderr } = await finish('bash', ['-e', '-c', here + more], { PATH: `${folder}:${process.env.PATH}` });
  t.match([code, stdout], [0, /"name": ?"A team"/], stderr);
  const api = start(t, LONGHAND, ['api'], parseEnv(readFileSync(file, 'utf8')) as Record<string, string>);
  await api.said(/^listening on /m);
  t.ok(existsSync(path.join(home, 'master.key')), 'it creates the master key');
  t.equal(await api.stop(), 0);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { finish } from '../support/processes.ts';
import { findProgram } from '../support/programs.ts';
import { known, read } from './shipped.ts';

const PARTS = ['api', 'engine', 'courier'];

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

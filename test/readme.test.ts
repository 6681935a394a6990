import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { SETTING_NAMES } from '../api/contract/settings.ts';
import { finish, longhand, ROOT } from './support/processes.ts';

const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const code = [...README.matchAll(/`([^`\n]+)`/g)].map(([, text]) => text!);
const FOLDERS = /^(api|bench|db|engine|models|scripts|test)\//;

t.test('README names files that are there', async (t) => {
  const links = [...README.matchAll(/\]\((?!http)([^)#]+)\)/g)].map(([, target]) => target!);
  const named = [...links, ...code.flatMap((text) => text.split(/\s+/)).filter((word) => FOLDERS.test(word))];
  t.ok(named.length > 40);
  for (const file of new Set(named)) t.ok(existsSync(path.join(ROOT, file)), file);
});

t.test('README tells every setting, and no other', async (t) => {
  const table = README.slice(README.indexOf('| variable |'), README.indexOf('**Several hosts.**'));
  const rows = table.split('\n').slice(2).filter(Boolean);
  const told = rows.flatMap((row) => [...row.split(' | ')[0]!.matchAll(/`([A-Z_*0-9]+)`/g)].map(([, name]) => name!));
  const known = SETTING_NAMES.map((name) => name.replace(/^LONGHAND_LIMIT_.*/, 'LONGHAND_LIMIT_*'));
  t.strictSame(new Set([...told, 'S3_ENDPOINT']), new Set(known));
});

t.test('README calls commands with options that they have', async (t) => {
  const blocks = [...README.matchAll(/^scripts\/longhand (.+)$/gm)].map(([, call]) => call!);
  const calls = [...code.filter((text) => text.startsWith('scripts/longhand ')).map((text) => text.slice(17)), ...blocks];
  t.ok(calls.length > 8);
  for (const call of new Set(calls)) {
    const words = call.replace(/#.*/, '').split(' ');
    const first = words.findIndex((word) => !/^[a-z]+$/.test(word));
    const { code, stdout, stderr } = await longhand([...words.slice(0, first < 0 ? undefined : first), '--help']);
    t.equal(code, 0, `${call}: ${stderr}`);
    for (const option of words.filter((word) => word.startsWith('--'))) t.match(stdout, new RegExp(`^ .*${option}\\b`, 'm'), call);
  }
});

t.test('README runs tests that are there', async (t) => {
  const calls = [...README.matchAll(/^.*npx tap (.*?)(?: {6}# .*)?$/gm)].map(([, files]) => files!);
  t.ok(calls.length >= 4);
  for (const files of calls) {
    const { stdout } = await finish('sh', ['-c', `ls ${files.replace('--timeout=0 ', '')}`]);
    const found = stdout.trim().split('\n');
    t.ok(
      found.every((file) => file.endsWith('.test.ts')),
      `${files}: ${found.length} files`,
    );
  }
});

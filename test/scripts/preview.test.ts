import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { longhand } from '../support/processes/processes.ts';
import { startLlm } from '../support/servers/llm-server.ts';

const home = t.testdir();
const file = path.join(home, 'call.json');
const segments = [
  { id: 1, start: 0, end: 4, speaker_id: 'speaker_1', speaker_name: null, text: 'Good morning, shall we move the delivery to Friday?' },
  { id: 2, start: 65, end: 70, speaker_id: 'speaker_2', speaker_name: 'Ann', text: 'Yes. I will send you the new plan by Thursday.' },
];
writeFileSync(file, JSON.stringify({ language: 'en', duration_seconds: 70, speakers: [{ id: 'speaker_1', name: 'Speaker 1' }], segments }));
const preview = (args: string[], env = {}) => longhand(['admin', 'template', 'preview', file, ...args], { LONGHAND_HOME: home, ...env });

t.test('preview writes a built-in report without database or model', async (t) => {
  const { code, stdout } = await preview(['--slug', 'tasks']);
  t.equal(code, 0);
  t.match(stdout, '- [01:05] Ann: I will send you the new plan by Thursday.');
});

t.test('preview sends a custom prompt to the configured model', async (t) => {
  const server = await startLlm();
  t.teardown(server.close);
  const { code, stdout } = await preview(['--prompt', 'List what was promised.', '--json'], { LLM_BASE_URL: server.url });
  t.equal(code, 0);
  t.match(JSON.parse(stdout), { writer: 'test-model', dropped: 0, text: /“Yes. I will send you the new plan” \[01:05, Ann\]/ });
  t.match(server.calls[0]!.body.messages[1]!.content, /<template>\nList what was promised.\n<\/template>/);
});

t.test('preview reports missing arguments and settings', async (t) => {
  t.match(await preview([]), { code: 2, stderr: /--prompt/ });
});

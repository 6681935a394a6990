/** Starts the command line, or reports what is missing. Parsed by any Node since 14. */
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = [20, 19];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  console.error(
    `Longhand needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}. Install Node 24, or 20 on Debian 12.`,
  );
  process.exit(1);
}
try {
  const { register } = await import('tsx/esm/api');
  register();
  await import('./main.ts');
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !/Cannot find package/.test(error.message)) throw error;
  const [, name = 'a package'] = /Cannot find package '([^']+)'/.exec(error.message) ?? [];
  const prepare = fileURLToPath(new URL('../prepare.mjs', import.meta.url));
  console.error(
    `Longhand cannot start: ${name} is not installed. Run this once; it installs what is missing (npm start does it too):\n\n  node ${prepare}\n`,
  );
  process.exit(1);
}

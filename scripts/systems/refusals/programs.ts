import { execFile } from 'node:child_process';
import path from 'node:path';

/** The HTTP clients, by name: the command that uploads a file to a URL and prints the response. Programs are found on the PATH. */
export type Command = (url: string, key: string, file: string) => [program: string, ...args: string[]];

const HERE = import.meta.dirname;
const DISPOSITION = 'Content-Disposition: attachment; filename="call.wav"';

export function pythonClient(name: string, python = 'python3'): Command {
  return (...args) => [python, path.join(HERE, 'clients.py'), name, ...args];
}

export function nodeClient(name: 'fetch' | 'http'): Command {
  return (...args) => [process.execPath, path.join(HERE, 'clients.mjs'), name, ...args];
}

export const curl: Command = (url, key, file) => [
  ...(['curl', '-sS', '-w', '\n%{http_code}', '-H', `Authorization: Bearer ${key}`, '-H', DISPOSITION] as const),
  ...['-H', 'Content-Type: application/octet-stream', '--data-binary', `@${file}`, url],
];

export const wget: Command = (url, key, file) => [
  ...([
    'wget',
    '-nv',
    '-S',
    '-O-',
    '--content-on-error',
    '--tries=1',
    `--header=Authorization: Bearer ${key}`,
    `--header=${DISPOSITION}`,
  ] as const),
  ...['--method=POST', `--body-file=${file}`, url],
];

/** Runs a command. Returns its output. */
export function run([program, ...args]: readonly [string, ...string[]]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: 120_000 }, (_error, stdout, stderr) => resolve(`${stdout}\n${stderr}`));
  });
}

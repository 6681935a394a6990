import fs from 'node:fs';
import { dirname } from 'node:path';

const SYSTEM: Record<string, string> = {
  ENOENT: 'no such file or folder',
  ENOTDIR: 'part of the path is not a folder',
  EEXIST: 'it exists already',
  EISDIR: 'it already exists',
  EACCES: 'permission denied for this account',
  EPERM: 'permission denied for this account',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** A readable message for an error; with LOG_LEVEL=debug its stack. */
export function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (process.env.LOG_LEVEL === 'debug') return error.stack ?? error.message;
  const { code = '', path } = error as NodeJS.ErrnoException;
  if (code === 'ERR_MODULE_NOT_FOUND')
    return `${error.message.split(' imported from')[0]}. Install what is missing: node scripts/prepare.mjs`;
  if (path && SYSTEM[code]) return `Cannot use ${path}: ${reason(error)}`;
  if (code === 'EISDIR') return reason(error); // Node does not name a folder that cannot be read as a file
  return error instanceof AggregateError && !error.message ? sentence(error.errors[0]) : error.message;
}

/** A readable reason for a system error, without the path, which the caller names. */
export function reason(error: NodeJS.ErrnoException): string {
  if (error.code === 'EISDIR' && error.syscall === 'read') return 'it is a folder, not a file';
  return SYSTEM[codeOf(error) ?? ''] ?? error.message;
}

/** The code of a system error. Node says ENOENT of a folder that it could not create on a read-only file system. */
function codeOf({ code, syscall, path }: NodeJS.ErrnoException): string | undefined {
  if (code !== 'ENOENT' || syscall !== 'mkdir' || !path) return code;
  let above = path;
  while (!fs.existsSync(above)) above = dirname(above);
  try {
    fs.accessSync(above, fs.constants.W_OK);
    return code;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

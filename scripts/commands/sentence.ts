const SYSTEM: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of that path is no folder',
  EEXIST: 'something else of that name is there',
  EISDIR: 'it is a folder, a file is wanted',
  EACCES: 'this account has no right to it',
  EPERM: 'this account has no right to it',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** What went wrong, in words for people; with LOG_LEVEL=debug, where. */
export function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (process.env.LOG_LEVEL === 'debug') return error.stack ?? error.message;
  const { code = '', path } = error as NodeJS.ErrnoException;
  if (code === 'ERR_MODULE_NOT_FOUND')
    return `${error.message.split(' imported from')[0]}. Install what is missing: node scripts/prepare.mjs`;
  if (path && SYSTEM[code]) return `Cannot use ${path}: ${reason(error)}`;
  return error instanceof AggregateError && !error.message ? sentence(error.errors[0]) : error.message;
}

/** Why the system refused something that its caller names. */
export function reason(error: NodeJS.ErrnoException): string {
  return SYSTEM[error.code ?? ''] ?? error.message;
}

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Lets every attempt to create a hard link fail, as on exFAT or SMB, until the test has ended. */
export function withoutLinks(t: { teardown(after: () => unknown): void }, code: string): void {
  const { linkSync, promises } = fs;
  const { link } = promises;
  const fail = () => {
    throw Object.assign(new Error(`${code}: link`), { code });
  };
  fs.linkSync = fail;
  promises.link = async () => fail();
  syncBuiltinESMExports();
  t.teardown(() => {
    fs.linkSync = linkSync;
    promises.link = link;
    syncBuiltinESMExports();
  });
}

/**
 * A small change to the product that a test must detect: the file, a text that occurs in it once, its replacement, and the tests to run.
 * Default: the test file of the same name under test/.
 */
export type Change = [file: string, from: string, to: string, tests?: string[]];

export function testsOf([file, , , tests]: Change): string[] {
  return tests ?? [`test/${file.replace(/\.ts$/, '.test.ts')}`];
}

/**
 * A small change to the product that a test must notice: the file, a text that stands in it once, what stands there instead, and the tests that are run.
 * Without tests: the file of the same name under test/.
 */
export type Change = [file: string, from: string, to: string, tests?: string[]];

export function testsOf([file, , , tests]: Change): string[] {
  return tests ?? [`test/${file.replace(/\.ts$/, '.test.ts')}`];
}

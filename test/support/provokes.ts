/**
 * Says that a test provokes this answer: `provokes('POST /transcriptions', 422, 'prompt_not_found')`, beside the assertion that proves it.
 * test/api/codes.test.ts reads these calls from the sources and fails when a pair of part 7 of the specification has none.
 * Returns the expectation, so that it can be asserted: `t.match(answer, provokes(...))`.
 */
export function provokes(endpoint: string, status: number, code: string | null): { status: number; json: { code: string | null } } {
  if (!/^(GET|POST|PUT|PATCH|DELETE) \/\S*$/.test(endpoint))
    throw new Error(`Cannot note a provoked answer: ${endpoint} is not METHOD /path`);
  return { status, json: { code } };
}

import { ENDPOINTS } from '../../api/codes.ts';

export interface Expectation {
  status: number;
  json: { code: string | null };
}

/**
 * Declares that a test provokes this response: `t.match(answer, provokes('POST /transcriptions', 422, 'prompt_not_found'))`. The arguments must be
 * literals, or a constant of the file for the endpoint: test/api/conformance/part7-errors.test.ts reads these calls from the sources, and fails if a pair of
 * part 7 of the rules has no call.
 */
export function provokes(endpoint: string, status: number, code: string | null): Expectation {
  if (!ENDPOINTS.some(([known]) => known === endpoint))
    throw new Error(`Cannot record a provoked response: ${endpoint} is not in test/api/codes.ts`);
  return { status, json: { code } };
}

/** The same for every endpoint: the expected response, the method and a path. */
export function provokesEverywhere(status: number, code: string): { expected: Expectation; method: string; path: string }[] {
  return ENDPOINTS.map(([endpoint, path]) => ({ expected: provokes(endpoint, status, code), method: endpoint.split(' ')[0]!, path }));
}

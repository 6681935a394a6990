import { z } from 'zod';
import type { Refusal } from '../http/route.ts';

/** An error response in the format of OpenAI's API. `code` is one of ours. */
export const OpenAiError = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable(),
    }),
  })
  .meta({ id: 'OpenAiError' });

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

/** Errors of the compatible endpoints. */
export const refusals = {
  schema: OpenAiError,
  body({ status, code, message, detail }: Refusal): z.infer<typeof OpenAiError> {
    const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');
    return { error: { message, type, param: typeof detail?.param === 'string' ? detail.param : null, code } };
  },
};

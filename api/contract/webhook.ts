import { z } from 'zod';
import { Timestamp } from './transcription.ts';

/** Events that webhooks receive, besides `webhook.test`. */
export const WEBHOOK_EVENTS = [
  'transcription.completed',
  'transcription.failed',
  'transcription.insufficient_balance',
  'report.completed',
  'report.failed',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** An address that deliveries may be sent to, as far as its text tells. */
export const WebhookUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(2_000)
  .refine((url) => !URL.canParse(url) || !(new URL(url).username + new URL(url).password), 'must not contain a user name or password')
  .meta({ format: 'uri', description: 'An http or https URL that does not resolve to a private network' });

const Events = z.array(z.enum(WEBHOOK_EVENTS)).min(1).nullable().describe('Events to send; null for all, including future ones');
const Secret = z.string().describe('Key that signs every delivery: `whsec_` followed by base64. Shown only once');

const shape = { id: z.uuid(), url: z.string(), events: Events, active: z.boolean(), created_at: Timestamp };

export const Webhook = z.object(shape).meta({ id: 'Webhook' });
export const WebhookWithSecret = z.object({ ...shape, secret: Secret }).meta({ id: 'WebhookWithSecret' });
export const WebhookList = z.object({ items: z.array(Webhook), total: z.int() }).meta({ id: 'WebhookList' });
export const WebhookCreation = z.strictObject({ url: WebhookUrl, events: Events.default(null) }).meta({ id: 'WebhookCreation' });
export const WebhookChange = z
  .strictObject({
    url: WebhookUrl.optional(),
    events: Events.optional(),
    active: z.boolean().optional().describe('false pauses deliveries'),
  })
  .refine((change) => Object.keys(change).length > 0, 'must change something')
  .meta({ id: 'WebhookChange', minProperties: 1 });
export const WebhookTest = z
  .object({ delivery_id: z.uuid().describe('Sent as `webhook-id` with the delivery') })
  .meta({ id: 'WebhookTest' });

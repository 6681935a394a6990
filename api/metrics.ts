import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Numbers of this API process for Prometheus. What the whole installation does is read from the database when somebody asks. */
export interface Metrics {
  answered(method: string, path: string, status: number): void;
  uploads: { inc(): void; dec(): void };
  /** The text that Prometheus reads. */
  text(): Promise<string>;
  readonly type: string;
}

export function openMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'longhand_api_' });
  const responses = new Counter({
    name: 'longhand_responses_total',
    help: 'Answers by method, route and status',
    labelNames: ['method', 'route', 'code'],
    registers: [registry],
  });
  const uploads = new Gauge({ name: 'longhand_uploads_in_flight', help: 'Uploads being received by this process', registers: [registry] });
  return {
    answered: (method, route, code) => responses.inc({ method, route, code }),
    uploads: { inc: () => uploads.inc(), dec: () => uploads.dec() },
    text: () => registry.metrics(),
    type: registry.contentType,
  };
}

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { EngineFact, Facts } from '../../db/ops/facts.ts';

/** Prometheus metrics of this API process, and of the whole installation if this process is elected to export them. */
export interface Metrics {
  answered(method: string, path: string, status: number): void;
  requests: { inc(): void; dec(): void };
  uploads: { inc(): void; dec(): void };
  /**
   * The text for Prometheus. `facts` is called at most every 10 s. If it returns null, another process exports them; then, and if it fails,
   * only the metrics of this process are returned.
   */
  text(facts: () => Promise<Facts | null>): Promise<string>;
  readonly type: string;
}

const FRESH_MS = 10_000;
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']); // clients can invent others, and every label value stays in memory

export function openMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'longhand_api_' });
  const { gauge: own, counter: ownCounter } = makers(registry);
  const responses = ownCounter('responses_total', 'Answers of this process by method, route and status', 'method', 'route', 'code');
  const answering = own('requests_in_flight', 'Requests that this process is answering, also of clients that have disconnected');
  const receiving = own('uploads_receiving', 'Uploads that this process is receiving');
  const up = own('database_up', '1 when the database answered');
  const installation = new Registry();
  const { gauge, counter } = makers(installation);
  const depth = gauge('queue_depth', 'Transcriptions and reports by state', 'kind', 'state');
  const oldest = gauge('queue_oldest_seconds', 'Age of the oldest one in each state', 'kind', 'state');
  const engines = gauge('engines_connected', 'Engines with a heartbeat within the last minute');
  const couriers = gauge('couriers_connected', 'Couriers with a heartbeat within the last minute');
  const engine = gauge(
    'engine_info',
    'Number of files each engine transcribes at once; labels: device and model in use',
    'engine',
    'host',
    'device',
    'model',
  );
  const poll = gauge('engine_seconds_since_poll', 'Seconds since the engine last polled for work', 'engine', 'host');
  const trouble = gauge('engine_trouble', '1 while the engine cannot read the spool and accepts no work', 'engine', 'host');
  const memory = gauge('engine_memory_bytes', 'Resident memory of the engine, including worker threads', 'engine', 'host');
  const undiarized = counter(
    'engine_failed_diarizations_total',
    'Transcripts without speakers because diarization failed',
    'engine',
    'host',
  );
  const uncovered = counter(
    'engine_uncovered_speech_seconds_total',
    'Seconds of detected speech without words in the transcript',
    'engine',
    'host',
  );
  const recognised = recognitionMetrics(counter);
  const written = writingMetrics(counter);
  const minutes = counter('minutes_processed_total', 'Total minutes of audio charged');
  const factor = gauge('real_time_factor', 'RTFx of recent recordings: hours of audio per hour of processing');
  const uploadsInFlight = gauge('uploads_in_flight', 'Uploads in progress on all API hosts');

  const show = (facts: Facts) => {
    for (const stale of [depth, oldest, engine, poll, trouble, memory, undiarized, uncovered, minutes, ...recognised.all, ...written.all])
      stale.reset();
    for (const kind of ['transcription', 'report'] as const) {
      for (const state of ['queued', 'processing'] as const) {
        const found = facts.depths.find((row) => row.kind === kind && row.state === state);
        depth.set({ kind, state }, found?.count ?? 0);
        oldest.set({ kind, state }, found?.oldest_seconds ?? 0);
      }
    }
    const engineFacts = facts.engines.filter(({ role }) => role === 'engine');
    engines.set(engineFacts.length);
    couriers.set(facts.engines.length - engineFacts.length);
    for (const row of facts.engines) written.show(row);
    for (const row of engineFacts) {
      engine.set({ engine: row.id, host: row.host, device: row.device, model: row.model }, row.concurrency);
      trouble.set({ engine: row.id, host: row.host }, row.trouble ? 1 : 0);
      memory.set({ engine: row.id, host: row.host }, row.memory_bytes);
      undiarized.inc({ engine: row.id, host: row.host }, row.failed_diarizations);
      uncovered.inc({ engine: row.id, host: row.host }, row.uncovered_seconds);
      recognised.show(row);
      if (row.seconds_since_poll !== null) poll.set({ engine: row.id, host: row.host }, row.seconds_since_poll);
    }
    minutes.inc(facts.minutes);
    factor.set(facts.realTimeFactor ?? 0);
    uploadsInFlight.set(facts.uploadsInFlight);
  };

  let last: { at: number; done: Promise<boolean> } | null = null;
  return {
    answered: (method, route, code) => responses.inc({ method: METHODS.has(method) ? method : 'other', route, code }),
    requests: { inc: () => answering.inc(), dec: () => answering.dec() },
    uploads: { inc: () => receiving.inc(), dec: () => receiving.dec() },
    async text(facts) {
      if (!last || performance.now() - last.at > FRESH_MS) {
        const done = facts().then(
          (read) => {
            up.set(1);
            if (read) show(read);
            return read !== null;
          },
          () => {
            up.set(0);
            return false;
          },
        );
        last = { at: performance.now(), done };
      }
      const shown = await last.done;
      return (await registry.metrics()) + (shown ? await installation.metrics() : '');
    },
    type: registry.contentType,
  };
}

/** Constructors for metrics of a registry. */
function makers(registry: Registry) {
  const registers = [registry];
  return {
    gauge: <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Gauge({ name: `longhand_${name}`, help, labelNames, registers }),
    counter: <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Counter({ name: `longhand_${name}`, help, labelNames, registers }),
  };
}

/** Seconds of speech by ASR model, where models are chosen by language. */
function recognitionMetrics(counter: <L extends string>(name: string, help: string, ...labelNames: L[]) => Counter<L>) {
  const seconds = counter(
    'engine_recognized_speech_seconds_total',
    'Seconds of speech by the ASR model that recognized it',
    'engine',
    'host',
    'model',
  );
  const fallbacks = counter(
    'engine_fallback_speech_seconds_total',
    'Seconds of speech that an ASR model failed to recognize or was unsure of, so that another model recognized it',
    'engine',
    'host',
    'model',
    'reason',
  );
  return {
    all: [seconds, fallbacks] as Counter[],
    show({ id: engine, host, recognised }: EngineFact) {
      for (const [model, counts] of Object.entries(recognised)) {
        seconds.inc({ engine, host, model }, counts.seconds);
        for (const reason of ['failed', 'unsure'] as const)
          if (counts[reason]) fallbacks.inc({ engine, host, model, reason }, counts[reason]);
      }
    },
  };
}

/** Metrics of the couriers' report writers; like process counters they end with their courier. */
function writingMetrics(counter: <L extends string>(name: string, help: string, ...labelNames: L[]) => Counter<L>) {
  const calls = counter('llm_calls_total', 'Requests to the language model by outcome', 'courier', 'host', 'model', 'outcome');
  const tokens = counter(
    'llm_tokens_total',
    'Tokens of prompts and of answers, as the server counts them',
    'courier',
    'host',
    'model',
    'kind',
  );
  const seconds = counter('llm_seconds_total', 'Time spent in requests to the language model', 'courier', 'host', 'model');
  const dropped = counter(
    'reports_dropped_quotes_total',
    'Hallucinated quotations and times removed from reports',
    'courier',
    'host',
    'model',
  );
  return {
    all: [calls, tokens, seconds, dropped] as Counter[],
    show({ id: courier, host, writing }: EngineFact) {
      const { model = '', calls: made = {}, promptTokens = 0, completionTokens = 0 } = writing;
      if (!model) return;
      const labels = { courier, host, model };
      for (const [outcome, count] of Object.entries(made)) calls.inc({ ...labels, outcome }, count);
      tokens.inc({ ...labels, kind: 'prompt' }, promptTokens);
      tokens.inc({ ...labels, kind: 'completion' }, completionTokens);
      seconds.inc(labels, writing.seconds ?? 0);
      dropped.inc(labels, writing.dropped ?? 0);
    },
  };
}

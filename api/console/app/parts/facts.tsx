import { day, FAILURE, language, length, STAGE } from '../show.ts';
import type { Transcription } from '../types.ts';
import { EXTRACTIVE } from './reports.tsx';

/** Date, duration, language and author. */
export function Meta({ record }: { record: Transcription }) {
  return (
    <p class="meta">
      <span>{day(record.created_at)}</span>
      {record.duration_seconds !== null && <span class="figure">{length(record.duration_seconds)}</span>}
      {record.language && <span>{language(record.language)}</span>}
      <bdi>{record.author.name ?? record.author.email}</bdi>
      {record.project && <bdi class="chip">{record.project.name}</bdi>}
      {record.external_id && <code class="chip">{record.external_id}</code>}
    </p>
  );
}

/** Summary and topics, and the metadata from the calling system. `extractive`: no language model wrote the summary. */
export function About({ record, extractive }: { record: Transcription; extractive: boolean }) {
  const { summary, topics, metadata } = record;
  if (!summary && !metadata) return null;
  return (
    <section class="card">
      {summary && (
        <>
          <h2>Summary</h2>
          {extractive && <span class="chip">{EXTRACTIVE}</span>}
          <p dir="auto">{summary}</p>
          <p class="row">
            {topics?.map((topic) => (
              <bdi class="chip" key={topic.title}>
                {topic.title}
              </bdi>
            ))}
          </p>
        </>
      )}
      {metadata && (
        <details class="no-print" open={!summary}>
          <summary>Metadata</summary>
          <pre>{JSON.stringify(metadata, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}

/** The progress, or why there is no transcript. */
export function Progress({ record }: { record: Transcription }) {
  if (record.status === 'completed') return null;
  if (record.status === 'failed') return <p class="problem">{FAILURE[record.error_code ?? ''] ?? `It failed: ${record.error_code}`}</p>;
  if (record.status === 'insufficient_balance') {
    return (
      <p class="problem">
        {record.required_minutes} minutes are needed and {record.available_minutes} are left. Top up and upload the file again.
      </p>
    );
  }
  const { stage = 'waiting', fraction = 0 } = record.progress ?? {};
  return (
    <p class="card row middle" role="status">
      <progress class="grow" max={1} value={fraction} aria-label="Progress" />
      <span class="figure">{Math.round(fraction * 100)} %</span>
      <span class="quiet">{STAGE[stage] ?? stage}</span>
    </p>
  );
}

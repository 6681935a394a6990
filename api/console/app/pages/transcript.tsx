import { useEffect, useState } from 'preact/hooks';
import { call, poller, type Session } from '../client.ts';
import { Action, Problem, Waiting } from '../parts/basics.tsx';
import { Export } from '../parts/export.tsx';
import { Reading } from '../parts/reading.tsx';
import { Reports } from '../parts/reports.tsx';
import { Speakers } from '../parts/speakers.tsx';
import { day, FAILURE, language, length, STAGE } from '../show.ts';
import type { Segment, Transcription } from '../types.ts';
import { go, useLoaded } from '../use.ts';

const POLL_MS = 2_000;

/** One transcript: turns with colours and times, speakers to rename, reports, exports. Follows the work while it is under way. */
export function TranscriptPage({ id, at, look, session }: { id: string; at: number | null; look: string; session: Session }) {
  const [words, setWords] = useState(false);
  const { record, error, replace, again } = useRecord(id, words);
  const rights = useLoaded<{ edit: boolean; delete: boolean }>(`/transcriptions/${id}/rights`).value;
  const [tab, show] = useState<'transcript' | 'reports'>('transcript');
  useEffect(() => {
    if (at !== null) show('transcript');
  }, [at]);
  if (!record)
    return error ? (
      <p class="empty">
        <b>{error.message}</b>
        <a href="#/">All transcripts</a>
      </p>
    ) : (
      <Waiting />
    );

  const order = new Map(record.speakers.map((speaker, index) => [speaker.id, index]));
  const names = new Map(record.speakers.map((speaker) => [speaker.id, speaker.name]));
  const label = (segment: Segment) => segment.speaker_name ?? names.get(segment.speaker_id ?? '') ?? 'Speaker 1';
  const colour = (segment: Segment) => (order.get(segment.speaker_id ?? '') ?? 0) % 8;
  const rename = async (speaker: string, name: string) => {
    const renamed = await call<Transcription>('PATCH', `/transcriptions/${id}/speakers/${speaker}`, { name: name.trim() || null });
    if (words) again();
    replace(renamed);
  };
  const possible = !['failed', 'insufficient_balance'].includes(record.status);
  return (
    <>
      <div class="head">
        <div>
          <a class="back no-print" href="#/">
            ← Transcripts
          </a>
          <h1 dir="auto">{record.title}</h1>
          <Meta record={record} />
        </div>
        <div class="row no-print">
          <Export id={id} ready={record.status === 'completed'} />
          {rights?.delete && <Remove id={id} />}
        </div>
      </div>
      <Problem error={error} />
      <Progress record={record} />
      <div class="reading">
        <div>
          {possible && (
            <div class="tabs no-print" role="tablist">
              {(['transcript', 'reports'] as const).map((name) => (
                <button key={name} type="button" role="tab" aria-selected={tab === name} onClick={() => show(name)}>
                  {name === 'transcript' ? 'Transcript' : 'Reports'}{' '}
                  {name === 'reports' && record.prompt_results.length > 0 && (
                    <span class="quiet figure">{record.prompt_results.length}</span>
                  )}
                </button>
              ))}
            </div>
          )}
          {tab === 'reports' && possible && <Reports record={record} may={session.scopes.includes('reports:write')} changed={again} />}
          {tab === 'transcript' && record.status === 'completed' && <Reading {...{ record, label, colour, at, look, words, setWords }} />}
        </div>
        <aside class="aside">
          <About record={record} />
          {record.speakers.length > 0 && <Speakers record={record} rename={rights?.edit ? rename : null} />}
          {record.status === 'completed' && <p class="quiet no-print">The recording itself was deleted after it was transcribed.</p>}
        </aside>
      </div>
    </>
  );
}

/** The record as it is, asked for again while something of it is under way. */
function useRecord(id: string, words: boolean) {
  const [record, replace] = useState<Transcription | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [round, next] = useState(0);
  useEffect(() => {
    const ask = poller<Transcription>(`/transcriptions/${id}${words ? '?words=true' : ''}`);
    let timer = 0;
    let current = true;
    const step = async () => {
      try {
        const { value, changed } = await ask();
        if (!current) return;
        if (changed) replace(value);
        setError(null);
        if (unfinished(value)) timer = window.setTimeout(step, POLL_MS);
      } catch (failure) {
        if (current) setError(failure as Error);
      }
    };
    step();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [id, words, round]);
  return { record, error, replace, again: () => next((n) => n + 1) };
}

const unfinished = (record: Transcription) =>
  ['queued', 'processing'].includes(record.status) ||
  record.prompt_results.some((report) => ['queued', 'processing'].includes(report.status));

function Meta({ record }: { record: Transcription }) {
  return (
    <p class="meta">
      <span>{day(record.created_at)}</span>
      {record.duration_seconds !== null && <span class="figure">{length(record.duration_seconds)}</span>}
      {record.language && <span>{language(record.language)}</span>}
      <span>{record.author.name ?? record.author.email}</span>
      {record.project && <span class="chip">{record.project.name}</span>}
      {record.external_id && <code class="chip">{record.external_id}</code>}
    </p>
  );
}

function About({ record }: { record: Transcription }) {
  const { summary, topics, metadata } = record;
  if (!summary && !metadata) return null;
  return (
    <section class="card">
      {summary && (
        <>
          <h2>Summary</h2>
          <p dir="auto">{summary}</p>
          <p class="row">
            {topics?.map((topic) => (
              <span class="chip" key={topic.title}>
                {topic.title}
              </span>
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

function Progress({ record }: { record: Transcription }) {
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

function Remove({ id }: { id: string }) {
  const [sure, ask] = useState(false);
  if (!sure) {
    return (
      <button type="button" class="danger" onClick={() => ask(true)}>
        Delete…
      </button>
    );
  }
  return (
    <>
      <Action kind="danger" run={() => call('DELETE', `/transcriptions/${id}`).then(() => go('/'))}>
        Delete text and reports for everybody
      </Action>
      <button type="button" onClick={() => ask(false)}>
        Keep
      </button>
    </>
  );
}

import { useEffect, useRef, useState } from 'preact/hooks';
import { call, poller } from '../client.ts';
import { Action, Copy, Problem, Waiting } from '../parts/basics.tsx';
import { Reports } from '../parts/reports.tsx';
import { Turns } from '../parts/turns.tsx';
import { day, FAILURE, language, length, STAGE, STATUS } from '../show.ts';
import type { Segment, Transcription } from '../types.ts';
import { go } from '../use.ts';

const POLL_MS = 2_000;

/** One transcript: turns with colours and times, speakers to rename, reports, exports. Follows the work while it is under way. */
export function TranscriptPage({ id, at }: { id: string; at: number | null }) {
  const [record, setRecord] = useState<Transcription | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [search, setSearch] = useState('');
  const [words, setWords] = useState(false);
  const [round, again] = useState(0);
  useEffect(() => {
    const ask = poller<Transcription>(`/transcriptions/${id}${words ? '?words=true' : ''}`);
    let timer = 0;
    const step = async () => {
      try {
        const { value, changed } = await ask();
        if (changed) setRecord(value);
        setError(null);
        if (unfinished(value)) timer = window.setTimeout(step, POLL_MS);
      } catch (failure) {
        setError(failure as Error);
      }
    };
    step();
    return () => clearTimeout(timer);
  }, [id, words, round]);
  if (!record) return error ? <Problem error={error} /> : <Waiting />;

  const order = new Map(record.speakers.map((speaker, index) => [speaker.id, index]));
  const names = new Map(record.speakers.map((speaker) => [speaker.id, speaker.name]));
  const label = (segment: Segment) => segment.speaker_name ?? names.get(segment.speaker_id ?? '') ?? 'Speaker 1';
  const colour = (segment: Segment) => (order.get(segment.speaker_id ?? '') ?? 0) % 8;
  const found =
    search.length > 1 ? record.segments.filter((segment) => segment.text.toLowerCase().includes(search.toLowerCase())) : record.segments;
  const rename = async (speaker: string, name: string) =>
    setRecord(await call<Transcription>('PATCH', `/transcriptions/${id}/speakers/${speaker}`, { name: name.trim() || null }));
  const download = (path: string) => `/v1/app/transcriptions/${id}/${path}`;

  return (
    <>
      <p class="no-print">
        <a href="#/">All transcripts</a>
      </p>
      <h1>{record.title}</h1>
      <dl class="facts">
        <Fact name="Status" value={STATUS[record.status] ?? record.status} />
        <Fact name="Length" value={length(record.duration_seconds)} />
        <Fact name="Language" value={language(record.language)} />
        <Fact name="Author" value={record.author.name ?? record.author.email} />
        <Fact name="Project" value={record.project?.name ?? '–'} />
        {record.external_id && <Fact name="External id" value={record.external_id} />}
        <Fact name="Uploaded" value={day(record.created_at)} />
      </dl>
      {record.metadata && (
        <details class="no-print">
          <summary>Metadata</summary>
          <pre>{JSON.stringify(record.metadata, null, 2)}</pre>
        </details>
      )}
      <Progress record={record} />
      {record.summary && (
        <section>
          <h2>Summary</h2>
          <p dir="auto">{record.summary}</p>
          <p class="row">
            {record.topics?.map((topic) => (
              <span class="chip" key={topic.title}>
                {topic.title}
              </span>
            ))}
          </p>
        </section>
      )}
      {record.speakers.length > 0 && (
        <section class="no-print">
          <h2>Speakers</h2>
          <ul class="row plain">
            {record.speakers.map((speaker, index) => (
              <li key={speaker.id} class={`voice-${index % 8}`}>
                <Rename name={speaker.name} save={(name) => rename(speaker.id, name)} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <Reports record={record} changed={() => again((n) => n + 1)} />
      {record.status === 'completed' && (
        <section>
          <h2>Transcript</h2>
          <div class="row no-print">
            <label class="field">
              <span>Find</span>
              <input type="search" value={search} onInput={(event) => setSearch((event.currentTarget as HTMLInputElement).value)} />
            </label>
            <span class="quiet" role="status">
              {search.length > 1 ? `${found.length} of ${record.segments.length} turns` : ''}
            </span>
            <label class="check">
              <input type="checkbox" checked={words} onChange={(event) => setWords((event.currentTarget as HTMLInputElement).checked)} />{' '}
              Times of words
            </label>
            <Copy text={record.text ?? ''} label="Copy text" />
            {(['md', 'txt', 'json'] as const).map((format) => (
              <a class="button small" key={format} href={download(`export?format=${format}`)} download>
                {format}
              </a>
            ))}
            {(['srt', 'vtt'] as const).map((format) => (
              <a class="button small" key={format} href={download(`subtitles?format=${format}`)} download>
                {format}
              </a>
            ))}
            <button type="button" class="small" onClick={() => print()}>
              Print
            </button>
          </div>
          {record.segments.length ? (
            <Turns segments={found} label={label} colour={colour} search={search} at={at} />
          ) : (
            <p class="quiet">Nobody speaks in this recording.</p>
          )}
        </section>
      )}
      <Remove id={id} />
    </>
  );
}

const unfinished = (record: Transcription) =>
  ['queued', 'processing'].includes(record.status) ||
  record.prompt_results.some((report) => ['queued', 'processing'].includes(report.status));

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Progress({ record }: { record: Transcription }) {
  if (record.status === 'failed') return <p class="problem">{FAILURE[record.error_code ?? ''] ?? `It failed: ${record.error_code}`}</p>;
  if (record.status === 'insufficient_balance') {
    return (
      <p class="problem">
        {record.required_minutes} minutes are needed and {record.available_minutes} are left. Top up and upload the file again.
      </p>
    );
  }
  if (record.status === 'completed') return <p class="quiet no-print">The recording itself was deleted after it was transcribed.</p>;
  const { stage = 'waiting', fraction = 0 } = record.progress ?? {};
  return (
    <p role="status">
      <progress max={1} value={fraction} aria-label="Progress" /> {Math.round(fraction * 100)} %, {STAGE[stage] ?? stage}
    </p>
  );
}

function Rename({ name, save }: { name: string; save: (name: string) => Promise<void> }) {
  const [editing, edit] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (editing) input.current?.select();
  }, [editing]);
  if (!editing) {
    return (
      <button type="button" class="speaker" aria-label={`Rename ${name}`} onClick={() => edit(true)}>
        {name}
      </button>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save(input.current!.value).then(() => edit(false), setError);
      }}
    >
      <input
        ref={input}
        aria-label="Name of the speaker"
        defaultValue={name}
        maxLength={100}
        onKeyDown={(event) => event.key === 'Escape' && edit(false)}
      />
      <button type="submit" class="small main">
        Save
      </button>
      <Problem error={error} />
    </form>
  );
}

function Remove({ id }: { id: string }) {
  const [sure, ask] = useState(false);
  return (
    <p class="row no-print end">
      {sure ? (
        <>
          <span>Text, reports and media go for everybody.</span>
          <Action kind="danger" run={() => call('DELETE', `/transcriptions/${id}`).then(() => go('/'))}>
            Delete for good
          </Action>
          <button type="button" onClick={() => ask(false)}>
            Keep
          </button>
        </>
      ) : (
        <button type="button" class="small" onClick={() => ask(true)}>
          Delete…
        </button>
      )}
    </p>
  );
}

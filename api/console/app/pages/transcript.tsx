import { useLayoutEffect, useState } from 'preact/hooks';
import { call, type Session } from '../client.ts';
import { Problem, Waiting } from '../parts/basics.tsx';
import { Risky } from '../parts/dialog.tsx';
import { Export } from '../parts/export.tsx';
import { About, Meta, Progress } from '../parts/facts.tsx';
import { History } from '../parts/history.tsx';
import { Reading } from '../parts/reading.tsx';
import { type Extractive, Reports } from '../parts/reports.tsx';
import { Speakers } from '../parts/speakers.tsx';
import { Title } from '../parts/title.tsx';
import type { Segment, Transcription } from '../types.ts';
import { go, useRecord, useRetried, useTitle } from '../use.ts';

interface Rights {
  edit: boolean;
  delete: boolean;
  recording_until: string | null;
}

/** One transcript: turns with colours and times, speakers to rename, reports, exports. Shows the progress of unfinished work. */
export function TranscriptPage({ id, at, look, session }: { id: string; at: number | null; look: string; session: Session }) {
  const [words, setWords] = useState(false);
  const { record, changes, error, replace, again } = useRecord(id, words);
  useTitle(record?.title);
  const rights = useRetried<Rights>(record && `/transcriptions/${id}/rights`, record?.status); // completed, it may have a recording
  const newest = record?.prompt_results.findLast(({ status }) => status === 'completed');
  const written = `${record?.status}-${newest?.id}`; // when it changes, there is another text
  const extractive = useRetried<Extractive>(record && `/transcriptions/${id}/reports/extractive`, written);
  const [tab, show] = useState<'transcript' | 'reports'>('transcript');
  useLayoutEffect(() => {
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
  const may = Boolean(rights?.edit) && record.status === 'completed';
  const { version } = changes;
  const possible = !['failed', 'insufficient_balance'].includes(record.status);
  return (
    <>
      <div class="head">
        <div>
          <a class="back no-print" href="#/">
            ← Transcripts
          </a>
          <Title {...{ record, version, may }} changed={again} />
          <Meta record={record} />
        </div>
        <div class="row no-print">
          <Export id={id} ready={record.status === 'completed'} />
          {rights?.delete && (
            <Risky
              kind=""
              label="Delete"
              title="Delete this transcript?"
              run={() => call('DELETE', `/transcriptions/${id}`).then(() => go('/'))}
            >
              Text, reports, corrections and a kept recording are deleted for everyone. This cannot be undone.
            </Risky>
          )}
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
          {tab === 'reports' && possible && (
            <Reports
              {...{ record, extractive }}
              sought={() => show('transcript')}
              may={session.scopes.includes('reports:write')}
              changed={again}
            />
          )}
          {tab === 'transcript' && record.status === 'completed' && (
            <Reading
              {...{ record, version, label, colour, at, look, words, setWords }}
              corrected={may ? again : null}
              kept={rights?.recording_until}
            />
          )}
        </div>
        <aside class="aside">
          <About record={record} extractive={Boolean(extractive?.summary)} />
          {record.speakers.length > 0 && (
            <Speakers {...{ record, version }} rename={rights?.edit ? rename : null} merged={may ? again : null} />
          )}
          {record.status === 'completed' && <History {...{ record, changes, may }} changed={again} />}
        </aside>
      </div>
    </>
  );
}

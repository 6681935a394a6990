import { useState } from 'preact/hooks';
import { call } from '../client.ts';
import { day, NO_REPORT } from '../show.ts';
import type { Report, Template, Transcription } from '../types.ts';
import { useLoaded, useRetried } from '../use.ts';
import { Action, Copy, Options, Problem } from './basics.tsx';
import { Prose } from './prose.tsx';

/** Texts that no language model wrote. */
export interface Extractive {
  /** Reports. */
  ids: string[];
  summary: boolean;
}

export const EXTRACTIVE = 'Extractive, no language model configured';

interface ReportsProps {
  record: Transcription;
  extractive: Extractive | null;
  may: boolean;
  changed: () => void;
  /** Somebody pointed at a time in a report; the URL names its turn, perhaps already before. */
  sought: () => void;
}

/** The reports of a transcript: read, copy, request. */
export function Reports({ record, extractive, may, changed, sought }: ReportsProps) {
  const newest = record.prompt_results.findLast(({ status }) => status === 'completed');
  const seek = (seconds: number) => {
    const turn = record.segments.findLast(({ start }) => (start ?? 0) < seconds + 1);
    return turn ? `#/t/${record.id}?turn=${turn.id}` : null;
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard clicks on links, too
    <section aria-label="Reports" onClick={(event) => (event.target as Element).closest('.prose a') && sought()}>
      {may && <Request record={record} changed={changed} />}
      {record.prompt_results.length === 0 && (
        <p class="empty">
          <b>No reports yet</b>A report summarises the conversation: minutes, tasks, your own checklist.
        </p>
      )}
      {record.prompt_results.map((report) => (
        <One
          key={report.id}
          {...{ record, report, seek, may, changed }}
          open={report === newest}
          extractive={Boolean(extractive?.ids.includes(report.id))}
        />
      ))}
    </section>
  );
}

interface OneProps {
  record: Transcription;
  report: Report;
  open: boolean;
  /** No language model wrote it. */
  extractive: boolean;
  seek: (seconds: number) => string | null;
  may: boolean;
  changed: () => void;
}

function One({ record, report, open, extractive, seek, may, changed }: OneProps) {
  const [seen, see] = useState(open);
  const path = `/transcriptions/${record.id}/reports/${report.id}`;
  const again = () => call('POST', `${path}/regenerate`).then(changed);
  return (
    <details class="card report" open={open} onToggle={(event) => (event.currentTarget as HTMLDetailsElement).open && see(true)}>
      <summary>
        <bdi>{report.name}</bdi>
        {extractive && <span class="chip">{EXTRACTIVE}</span>}
        {report.status === 'failed' && <span class="chip bad">failed</span>}
        {['queued', 'processing'].includes(report.status) && <span class="chip">being written…</span>}
      </summary>
      <div>
        {report.status === 'failed' && <p class="bad">{NO_REPORT[report.error_code ?? ''] ?? report.error_code}</p>}
        {report.text && (
          <>
            <Prose text={report.text} seek={seek} />
            <div class="row no-print">
              <Copy text={report.text} />
              {may && (
                <Action kind="small" run={again}>
                  Regenerate
                </Action>
              )}
            </div>
            {seen && <Earlier path={path} seek={seek} />}
          </>
        )}
      </div>
    </details>
  );
}

/** Earlier versions of the report. */
function Earlier({ path, seek }: { path: string; seek: OneProps['seek'] }) {
  const value = useRetried<{ items: (Report & { completed_at: string })[] }>(`${path}/history`);
  if (!value?.items.length) return null;
  return (
    <section class="earlier no-print" aria-label="Earlier versions">
      <h3>Earlier versions</h3>
      {value.items.map(({ id, text, completed_at }) => (
        <details key={id}>
          <summary>{day(completed_at)}</summary>
          <Prose text={text ?? ''} seek={seek} />
        </details>
      ))}
    </section>
  );
}

function Request({ record, changed }: { record: Transcription; changed: () => void }) {
  const { value, error } = useLoaded<{ prompts: Template[] }>('/prompts');
  const [slug, choose] = useState('summary');
  const groups = new Map<string, Template[]>();
  for (const template of value?.prompts ?? []) {
    const group = template.kind === 'builtin' ? (template.description ?? 'Built-in') : 'Your own';
    groups.set(group, [...(groups.get(group) ?? []), template]);
  }
  return (
    <div class="card row no-print">
      <label class="field grow">
        <span>Template</span>
        <select value={slug} onChange={(event) => choose((event.currentTarget as HTMLSelectElement).value)}>
          {[...groups].map(([group, templates]) => (
            <optgroup key={group} label={group}>
              <Options of={templates.map(({ slug, name }) => [slug, name])} />
            </optgroup>
          ))}
        </select>
      </label>
      <Action kind="main" run={() => call('POST', `/transcriptions/${record.id}/reports`, { reports: [slug] }).then(changed)}>
        Write this report
      </Action>
      <Problem error={error} />
    </div>
  );
}

import { useState } from 'preact/hooks';
import { call } from '../client.ts';
import type { Template, Transcription } from '../types.ts';
import { useLoaded } from '../use.ts';
import { Action, Copy } from './basics.tsx';

/** Reports of a transcript: read, copy, request. */
export function Reports({ record, changed }: { record: Transcription; changed: () => void }) {
  const { value } = useLoaded<{ prompts: Template[] }>('/prompts');
  const [slug, choose] = useState('summary');
  const possible = !['failed', 'insufficient_balance'].includes(record.status);
  return (
    <section>
      <h2 class={record.prompt_results.length ? '' : 'no-print'}>Reports</h2>
      {record.prompt_results.map((report) => (
        <details class="card report" key={report.id} open={report.status === 'completed' && record.prompt_results.length === 1}>
          <summary>
            {report.name}{' '}
            {report.status !== 'completed' && (
              <span class="quiet">{report.status === 'failed' ? `failed: ${report.error_code}` : 'being written…'}</span>
            )}
          </summary>
          {report.text && (
            <>
              <div class="prose" dir="auto">
                {report.text}
              </div>
              <Copy text={report.text} />
            </>
          )}
        </details>
      ))}
      {possible && (
        <div class="row no-print">
          <label class="field">
            <span>Template</span>
            <select value={slug} onChange={(event) => choose((event.currentTarget as HTMLSelectElement).value)}>
              {value?.prompts.map((template) => (
                <option key={template.slug} value={template.slug}>
                  {template.description && template.kind === 'builtin' ? `${template.description}: ` : ''}
                  {template.name}
                </option>
              ))}
            </select>
          </label>
          <Action run={() => call('POST', `/transcriptions/${record.id}/reports`, { reports: [slug] }).then(changed)}>
            Write this report
          </Action>
        </div>
      )}
    </section>
  );
}

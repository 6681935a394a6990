import { authorOf, type Changes, type Correction, correct } from '../correcting.ts';
import { day } from '../show.ts';
import type { Transcription } from '../types.ts';
import { useLoaded } from '../use.ts';
import { Action } from './basics.tsx';

/** Corrections with their author, newest first, each with a button to undo it. `round` changes after every correction. */
export function History({ record, may, round, changed }: { record: Transcription; may: boolean; round: number; changed: () => void }) {
  const { value } = useLoaded<Changes>(`/transcriptions/${record.id}/changes?round=${round}`);
  if (!value?.items.length) return null;
  const undone = new Set(value.items.map(({ undoes }) => undoes));
  const undo = (version: number) => correct(record.id, value.version, { undo: version }).then(changed);
  return (
    <details class="card no-print">
      <summary>Corrections ({value.items.length})</summary>
      <ul class="plain corrections">
        {value.items.map((item) => (
          <li key={item.version}>
            <p>
              <b>{authorOf(item)}</b> <span class="quiet">{day(item.at)}</span>
            </p>
            <p dir="auto">{told(item, record)}</p>
            {may && !undone.has(item.version) && (
              <Action kind="small" run={() => undo(item.version)}>
                Undo
              </Action>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

function told({ kind, before, after, segment, segments, undoes }: Correction, { speakers }: Transcription) {
  const name = (id: string | null) => speakers.find((one) => one.id === id)?.name ?? 'another speaker';
  const start = undoes ? 'Undone: ' : '';
  if (kind === 'title' || kind === 'text') {
    return (
      <>
        {start}
        {kind === 'title' ? 'title ' : `turn ${segment} `}
        <del>{before}</del> <ins>{after ?? 'file name'}</ins>
      </>
    );
  }
  const what = kind === 'merge' ? `merged into ${name(after)}` : `turn ${segments?.join(', ')} is ${name(after)}`;
  return `${start}${what}`;
}

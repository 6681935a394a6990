import { authorOf, type Changes, type Correction, correct } from '../correcting.ts';
import { day } from '../show.ts';
import type { Transcription } from '../types.ts';
import { Action } from './basics.tsx';

interface Props {
  record: Transcription;
  changes: Changes;
  may: boolean;
  changed: () => void;
}

/** Corrections with their author, newest first, each with a button to undo it. */
export function History({ record, changes: { version, items }, may, changed }: Props) {
  if (!items.length) return null;
  const undone = new Set(items.map(({ undoes }) => undoes));
  const undo = (undo: number) => correct(record.id, version, { undo }).then(changed);
  return (
    <details class="card no-print">
      <summary>Corrections ({items.length})</summary>
      <ul class="plain corrections">
        {items.map((item) => (
          <li key={item.version}>
            <p>
              <b dir="auto">{authorOf(item)}</b> <span class="quiet">{day(item.at)}</span>
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
  const what =
    kind === 'merge'
      ? `merged into ${name(after)}`
      : `${segments?.length === 1 ? 'turn' : 'turns'} ${segments?.join(', ')}: ${name(after)}`;
  return `${start}${what}`;
}

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { authorOf, conflictOf, correct, loadChanges } from '../correcting.ts';
import type { Transcription } from '../types.ts';
import { Problem } from './basics.tsx';

/** The title, which who may edit can correct. */
export function Title({ record, may, changed }: { record: Transcription; may: boolean; changed: () => void }) {
  const [version, edit] = useState<number | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.select(), [version === null]);
  if (version === null) {
    const open = () => loadChanges(record.id).then((changes) => edit(changes.version), setError);
    return (
      <div class="title">
        <h1 dir="auto">{record.title}</h1>
        {may && (
          <button type="button" class="small no-print" aria-label="Edit title" onClick={open}>
            Edit
          </button>
        )}
      </div>
    );
  }
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    try {
      await correct(record.id, version, { title: input.current!.value.trim() || null });
      edit(null);
      changed();
    } catch (failure) {
      const other = conflictOf(failure);
      if (other) edit(other.version); // saving again is then meant
      setError(
        other
          ? new Error(`${authorOf(other)} has just changed the title to “${other.after}”; save again to replace it`)
          : (failure as Error),
      );
    }
  };
  return (
    <form class="row title" onSubmit={save} onKeyDown={(event) => event.key === 'Escape' && edit(null)}>
      <input ref={input} aria-label="Title" placeholder="Leave empty to reset" defaultValue={record.title ?? ''} maxLength={500} />
      <button type="submit" class="small main">
        Save
      </button>
      <button type="button" class="small" onClick={() => edit(null)}>
        Cancel
      </button>
      <Problem error={error} />
    </form>
  );
}

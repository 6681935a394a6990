import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { authorOf, conflictOf, correct } from '../correcting.ts';
import type { Transcription } from '../types.ts';
import { useReturn } from '../use.ts';
import { Problem } from './basics.tsx';

interface Props {
  record: Transcription;
  /** Of the newest correction that is shown. */
  version: number;
  may: boolean;
  changed: () => void;
}

/** The title, which who may edit can correct. */
export function Title({ record, version, may, changed }: Props) {
  const [seen, edit] = useState<number | null>(null); // the version from which it is edited; null: it is not
  const [error, setError] = useState<Error | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const button = useReturn(seen !== null);
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, [seen === null]);
  if (seen === null) {
    return (
      <div class="title">
        <h1 dir="auto">{record.title}</h1>
        {may && (
          <button type="button" ref={button} class="small no-print" aria-label="Edit title" onClick={() => edit(version)}>
            Edit
          </button>
        )}
      </div>
    );
  }
  const close = (reload: boolean) => {
    edit(null);
    setError(null);
    if (reload) changed();
  };
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const title = input.current!.value.trim();
    if (title === record.title) return close(false);
    try {
      await correct(record.id, seen, { title: title || null });
      close(true);
    } catch (failure) {
      const other = conflictOf(failure);
      if (other) edit(other.version); // saving again is then meant
      setError(
        other
          ? new Error(`${authorOf(other)} has just changed the title to “${other.after ?? 'the file name'}”; save again to replace it`)
          : (failure as Error),
      );
    }
  };
  return (
    <form class="row title" onSubmit={save} onKeyDown={(event) => event.key === 'Escape' && close(error !== null)}>
      <input
        ref={input}
        dir="auto"
        aria-label="Title"
        placeholder="Leave empty to reset"
        defaultValue={record.title ?? ''}
        maxLength={500}
      />
      <button type="submit" class="small main">
        Save
      </button>
      <button type="button" class="small" onClick={() => close(error !== null)}>
        Cancel
      </button>
      <Problem error={error} />
    </form>
  );
}

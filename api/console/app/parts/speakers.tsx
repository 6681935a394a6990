import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { authorOf, conflictOf, correct } from '../correcting.ts';
import { length } from '../show.ts';
import type { Transcription } from '../types.ts';
import { useReturn } from '../use.ts';
import { Field, Form, Options, Problem } from './basics.tsx';

interface SpeakersProps {
  record: Transcription;
  /** Of the newest correction that is shown. */
  version: number;
  rename: ((id: string, name: string) => Promise<void>) | null;
  /** Speakers may be merged: what to do then; null: they may not. */
  merged: (() => void) | null;
}

/** The speakers, their speaking time, and their names. */
export function Speakers({ record, version, rename, merged }: SpeakersProps) {
  const spoken = new Map<string, number>();
  for (const { speaker_id: id, start, end } of record.segments) {
    if (id !== null) spoken.set(id, (spoken.get(id) ?? 0) + Math.max(0, (end ?? 0) - (start ?? 0)));
  }
  const all = Math.max(
    1,
    [...spoken.values()].reduce((sum, seconds) => sum + seconds, 0),
  );
  return (
    <section class="card no-print">
      <h2>Speakers</h2>
      <ul class="plain speakers">
        {record.speakers.map(({ id, name }, index) => (
          <li key={id} class={`voice-${index % 8}`}>
            <span class="dot" />
            <Name name={name} save={rename && ((next) => rename(id, next))} />
            <span class="quiet figure">{length(spoken.get(id) ?? 0)}</span>
            <div class="share" role="img" aria-label={`${Math.round((100 * (spoken.get(id) ?? 0)) / all)} % of the speaking time`}>
              <i style={{ width: `${(100 * (spoken.get(id) ?? 0)) / all}%` }} />
            </div>
          </li>
        ))}
      </ul>
      {merged && record.speakers.length > 1 && <Merge {...{ record, version, merged }} />}
    </section>
  );
}

/** Two names for one person become one. */
function Merge({ record, version, merged }: { record: Transcription; version: number; merged: () => void }) {
  const choices = [['', 'Choose…'], ...record.speakers.map(({ id, name }) => [id, name] as const)] as const;
  const send = async ({ speaker_id, into }: Record<string, string>) => {
    try {
      await correct(record.id, version, { merge: { speaker_id, into } });
    } catch (failure) {
      const other = conflictOf(failure);
      if (!other) throw failure;
      throw new Error(`${authorOf(other)} has just changed who says what: look at the turns again, then merge`);
    } finally {
      merged();
    }
  };
  return (
    <details>
      <summary>Merge speakers</summary>
      <Form send={send} label="Merge" kind="stack">
        {(['speaker_id', 'into'] as const).map((name) => (
          <Field key={name} label={name === 'into' ? 'is the same person as' : 'Speaker'}>
            <select name={name} required>
              <Options of={choices} />
            </select>
          </Field>
        ))}
      </Form>
    </details>
  );
}

function Name({ name, save }: { name: string; save: ((name: string) => Promise<void>) | null }) {
  const [editing, edit] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const button = useReturn(editing);
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, [editing]);
  if (!save) return <bdi>{name}</bdi>;
  const open = () => {
    setError(null);
    edit(true);
  };
  if (!editing) {
    return (
      <button type="button" ref={button} class="speaker" dir="auto" aria-label={`Rename ${name}`} title="Rename" onClick={open}>
        {name}
      </button>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setError(null);
        save(input.current!.value).then(() => edit(false), setError);
      }}
    >
      <input
        ref={input}
        dir="auto"
        aria-label="Speaker name"
        placeholder="Name; leave empty to reset"
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

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { authorOf, type Correction, conflictOf, correct } from '../correcting.ts';
import type { Segment, Transcription } from '../types.ts';
import { Options, Problem } from './basics.tsx';

interface Props {
  record: Transcription;
  /** Of the newest correction that is shown. */
  version: number;
  segment: Segment;
  /** The form is to be closed; `saved`: something may have changed. */
  close: (saved: boolean) => void;
}

/** Text and speaker of one turn, to be corrected. Ctrl+Enter saves, Escape leaves it as it was. */
export function TurnEditor({ record, version, segment, close }: Props) {
  const [seen] = useState({ version, text: segment.text, speaker: segment.speaker_id ?? '' }); // the page may be reloaded meanwhile
  const [text, setText] = useState(seen.text);
  const [speaker, setSpeaker] = useState(seen.speaker);
  const [other, setOther] = useState<Correction | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => box.current!.focus(), []); // not after the next frame: keys pressed in between would be lost
  const cancel = () => close(other !== null); // what the other person wrote is shown then
  const save = async (version: number) => {
    const wanted = {
      id: segment.id,
      ...(text.trim() !== seen.text && { text: text.trim() }),
      ...(speaker !== seen.speaker && { speaker_id: speaker }),
    };
    if (Object.keys(wanted).length === 1) return close(false);
    setError(null);
    try {
      await correct(record.id, version, { segments: [wanted] });
      close(true);
    } catch (failure) {
      setOther(conflictOf(failure));
      setError(conflictOf(failure) ? null : (failure as Error));
    }
  };
  return (
    <form
      class="turn-editor"
      onSubmit={(event) => {
        event.preventDefault();
        save(seen.version);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') cancel();
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save(seen.version);
      }}
    >
      <textarea
        ref={box}
        dir="auto"
        aria-label="Text of the turn"
        rows={Math.min(12, 2 + Math.ceil(segment.text.length / 80))}
        value={text}
        onInput={(event) => setText((event.currentTarget as HTMLTextAreaElement).value)}
      />
      <div class="row">
        {record.speakers.length > 1 && (
          <select
            aria-label="Speaker of the turn"
            value={speaker}
            onChange={(event) => setSpeaker((event.currentTarget as HTMLSelectElement).value)}
          >
            <Options of={record.speakers.map(({ id, name }) => [id, name])} />
          </select>
        )}
        <button type="submit" class="small main" disabled={!text.trim()}>
          Save
        </button>
        <button type="button" class="small" onClick={cancel}>
          Cancel
        </button>
      </div>
      {other && (
        <div class="problem" role="alert">
          <p>
            {authorOf(other)} has changed this turn in the meantime{other.kind === 'text' ? <>: “{other.after}”</> : ', to another speaker'}
          </p>
          <div class="row">
            <button type="button" class="small" onClick={() => close(true)}>
              Keep theirs
            </button>
            <button type="button" class="small" onClick={() => save(other.version)}>
              Save mine instead
            </button>
          </div>
        </div>
      )}
      <Problem error={error} />
    </form>
  );
}

import { useState } from 'preact/hooks';
import { call, type Session, save } from '../client.ts';
import { useRetried } from '../use.ts';
import { Problem } from './basics.tsx';
import { Confirm } from './dialog.tsx';
import { Icon } from './icons.tsx';
import { Menu } from './menu.tsx';

const FORMATS = [
  ['Word', 'docx'],
  ['PDF', 'pdf'],
  ['Markdown', 'md'],
  ['Plain text', 'txt'],
  ['JSON', 'json'],
] as const;
const MOST = 100; // in one request

interface Props {
  /** Of the rows on this page. */
  shown: readonly string[];
  chosen: ReadonlySet<string>;
  set: (ids: ReadonlySet<string>) => void;
  session: Session;
  changed: () => void;
}

/** Actions on the selected recordings. */
export function Bulk({ shown, chosen, set, session, changed }: Props) {
  const [asking, ask] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [told, tell] = useState('');
  const places = useRetried<{ items: { id: string; name: string }[] }>('/projects/upload');
  const all = shown.length > 0 && shown.every((id) => chosen.has(id));
  const ids = [...chosen];
  const attempt = async (work: () => Promise<string>) => {
    setError(null);
    tell('');
    await work().then(tell, setError);
  };
  const download = (format: string) =>
    attempt(async () => {
      tell('Preparing the archive…');
      const documents = format === 'docx' || format === 'pdf';
      await save(`/transcriptions/${documents ? 'documents' : 'export'}`, { ids, format });
      return '';
    });
  const move = (project: string | null) =>
    attempt(async () => {
      const answer = await call<{ moved: number; refused: number }>('POST', '/transcriptions/move', { ids, project_id: project });
      done();
      return sentence('Moved', answer.moved, answer.refused);
    });
  const remove = async () => {
    setError(null);
    tell('');
    const answer = await call<{ deleted: number; refused: number }>('POST', '/transcriptions/delete', { ids });
    ask(false);
    done();
    tell(sentence('Deleted', answer.deleted, answer.refused));
  };
  const done = () => {
    set(new Set());
    changed();
  };
  const page = () => set(all ? new Set(ids.filter((id) => !shown.includes(id))) : new Set([...chosen, ...shown]));
  const many = `${ids.length} ${ids.length === 1 ? 'recording' : 'recordings'}`;
  return (
    <section class="bulk row middle" aria-label="Selection">
      <label class="check">
        <input type="checkbox" checked={all} disabled={!shown.length} onChange={page} /> Select page
      </label>
      {ids.length > 0 && ids.length <= MOST && (
        <>
          <Menu
            label={
              <>
                <Icon of="download" /> Export {ids.length}
              </>
            }
          >
            {FORMATS.map(([name, format]) => (
              <button key={format} type="button" class="choice" onClick={() => download(format)}>
                {name} <code class="quiet">.{format}</code>
              </button>
            ))}
          </Menu>
          {session.scopes.includes('uploads:write') && (
            <Menu label="Move to project">
              {[...(places?.items ?? []), { id: null, name: 'No project' }].map(({ id, name }) => (
                <button key={id} type="button" class="choice" onClick={() => move(id)}>
                  {name}
                </button>
              ))}
            </Menu>
          )}
          {session.scopes.includes('transcriptions:delete') && (
            <button type="button" class="danger" onClick={() => ask(true)}>
              Delete…
            </button>
          )}
          <button type="button" class="bare" onClick={() => set(new Set())}>
            Clear selection
          </button>
        </>
      )}
      <span class="quiet" role="status">
        {ids.length > MOST ? `${many} selected: at most ${MOST} can be changed at once` : told}
      </span>
      <Problem error={error} />
      {asking && (
        <Confirm title={`Delete ${many}?`} label="Delete" run={remove} close={() => ask(false)}>
          Text, reports, corrections and kept recordings are deleted for everyone. This cannot be undone.
        </Confirm>
      )}
    </section>
  );
}

function sentence(done: string, count: number, refused: number): string {
  return `${done} ${count}${refused ? `; ${refused} cannot be changed by you` : ''}`;
}

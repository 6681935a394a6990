import { left, size } from '../show.ts';
import type { Upload, UploadQueue } from '../uploading.ts';
import { Going } from './going.tsx';
import { Icon } from './icons.tsx';

/** A file that is not in the list yet: on its way, or refused. */
export function Sending({ upload: { key, id, file, sent, since, state, problem }, uploads }: { upload: Upload; uploads: UploadQueue }) {
  const elapsed = (performance.now() - since) / 1000;
  return (
    <tr class="sending">
      <td class="pick">
        {state !== 'sending' && (
          <button type="button" class="bare small icon" aria-label={`Hide ${file.name}`} onClick={() => uploads.hide(key)}>
            <Icon of="close" />
          </button>
        )}
      </td>
      <td class="what">
        {id ? (
          <a class="open" href={`#/t/${id}`} dir="auto">
            {file.name}
          </a>
        ) : (
          <b dir="auto">{file.name}</b>
        )}{' '}
        <span class="quiet">{size(file.size)}</span>
        {problem && (
          <div class="bad" role="alert">
            {problem}
          </div>
        )}
      </td>
      <td class="state">
        {state === 'done' && <span class="chip good">Uploaded</span>}
        {state === 'waiting' && <span class="chip">Waiting to upload</span>}
        {state === 'sending' && (
          <Going label={`Upload of ${file.name}`} value={sent}>
            {['Uploading', sent > 0 && left((elapsed * (1 - sent)) / sent)].filter(Boolean).join(', ')}
          </Going>
        )}
        {state === 'failed' && (
          <>
            <span class="chip bad">Not uploaded</span>{' '}
            <button type="button" class="small" onClick={() => uploads.again([key])}>
              Send again
            </button>
          </>
        )}
      </td>
      <td />
      <td />
      <td />
      <td />
    </tr>
  );
}

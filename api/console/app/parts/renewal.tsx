import { call, type Session } from '../client.ts';
import { useModal } from '../use.ts';
import { Ways } from './ways.tsx';

/** Sign-in above a page whose session has ended, which is kept. A sign-in in another tab, with a provider or a link, counts too. */
export function Renewal({ email, onSignedIn }: { email: string; onSignedIn: (session: Session) => void }) {
  const dialog = useModal();
  return (
    <dialog ref={dialog} class="renewal" aria-labelledby="ended" onClose={() => dialog.current?.showModal()}>
      <h2 id="ended">Your session has ended</h2>
      <p>
        Sign in again as {email} to continue where you were. A sign-in link can be opened in another tab. If somebody else signs in, what
        was not saved here is lost.
      </p>
      <Ways beside back="%2F" enter={async (key) => onSignedIn(await call<Session>('POST', '/session', { key }))} />
    </dialog>
  );
}

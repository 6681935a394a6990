import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useModal } from '../use.ts';
import { Action } from './basics.tsx';

interface Props {
  title: string;
  children: ComponentChildren;
  /** Label of the button that does it. */
  label: string;
  run: () => Promise<unknown>;
  close: () => void;
}

/** Asks before what cannot be undone. Escape and the other button close it. */
export function Confirm({ title, children, label, run, close }: Props) {
  const dialog = useModal();
  return (
    <dialog ref={dialog} aria-labelledby="asked" onClose={close}>
      <h2 id="asked">{title}</h2>
      <p>{children}</p>
      <div class="row">
        <button type="button" onClick={() => dialog.current!.close()}>
          Cancel
        </button>
        <Action kind="danger" run={run}>
          {label}
        </Action>
      </div>
    </dialog>
  );
}

/** A button for what cannot be undone: it asks first. */
export function Risky({ kind = 'small', ...asked }: Omit<Props, 'close'> & { kind?: string }) {
  const [asking, ask] = useState(false);
  return (
    <>
      <button type="button" class={`${kind} danger`} onClick={() => ask(true)}>
        {asked.label}…
      </button>
      {asking && <Confirm {...asked} run={() => asked.run().then(() => ask(false))} close={() => ask(false)} />}
    </>
  );
}

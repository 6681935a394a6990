import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
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
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    dialog.current!.showModal();
    return () => before?.focus();
  }, []);
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

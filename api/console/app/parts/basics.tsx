import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icons.tsx';

/** Says what went wrong, in a region that screen readers announce; `again` offers to try once more. */
export function Problem({ error, again }: { error: Error | null; again?: () => void }) {
  return error ? (
    <p class="problem full" role="alert">
      {error.message}{' '}
      {again && (
        <button type="button" class="small" onClick={again}>
          Try again
        </button>
      )}
    </p>
  ) : null;
}

/** A button that runs something asynchronous: busy meanwhile, its failure shown beside it. */
export function Action({
  run,
  children,
  kind = '',
  disabled = false,
}: {
  run: () => Promise<unknown>;
  children: ComponentChildren;
  kind?: string;
  disabled?: boolean;
}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const alive = useRef(true);
  useEffect(() => () => void (alive.current = false), []);
  const click = async () => {
    setBusy(true);
    setError(null);
    try {
      await run();
    } catch (failure) {
      if (alive.current) setError(failure as Error);
    }
    if (alive.current) setBusy(false);
  };
  return (
    <>
      <button type="button" class={kind} disabled={busy || disabled} aria-busy={busy} onClick={click}>
        {children}
      </button>
      <Problem error={error} />
    </>
  );
}

/** A form that sends its fields by name; cleared once it succeeded. */
export function Form({
  send,
  label,
  kind = 'row',
  children,
}: {
  send: (fields: Record<string, string>) => Promise<unknown>;
  label: string;
  kind?: string;
  children: ComponentChildren;
}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setBusy(true);
    setError(null);
    try {
      await send(Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)])));
      form.reset();
    } catch (failure) {
      setError(failure as Error);
    }
    setBusy(false);
  };
  return (
    <form class={kind} onSubmit={submit}>
      {children}
      <button type="submit" class="main" disabled={busy}>
        {label}
      </button>
      <Problem error={error} />
    </form>
  );
}

export function Field({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  );
}

/** What a select offers: values with what people read. */
export function Options({ of }: { of: readonly (readonly [value: string, label: string | null])[] | undefined }) {
  return (
    <>
      {of?.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </>
  );
}

/** Something that is shown once: text with a button that copies it. */
export function Once({ text, hint }: { text: string; hint: string }) {
  return (
    <div class="once" role="status">
      <p>{hint}</p>
      <code>{text}</code> <Copy text={text} />
    </div>
  );
}

export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [done, set] = useState(false);
  return (
    <button
      type="button"
      class="small"
      onClick={async () => {
        await copy(text);
        set(true);
        setTimeout(() => set(false), 1500);
      }}
    >
      <Icon of="copy" /> {done ? 'Copied' : label}
    </button>
  );
}

/** Puts text on the clipboard, also where the page came by plain http and the browser's clipboard is closed. */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const box = document.createElement('textarea');
  box.value = text;
  box.className = 'unseen';
  document.body.append(box);
  box.select();
  document.execCommand('copy');
  box.remove();
}

export function Waiting() {
  return (
    <p class="quiet" role="status">
      Loading…
    </p>
  );
}

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icons.tsx';

/** An error message in a region that screen readers announce; `again` adds a retry button. */
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

/** A button for an asynchronous action: disabled while it runs, with an error message beside it. */
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

/**
 * A form that submits its fields by name. On success it is cleared, unless it was edited while it was being sent. `stale`: it was edited or
 * submitted since its last success.
 */
export function Form({
  send,
  label,
  kind = 'row',
  stale,
  children,
}: {
  send: (fields: Record<string, string>) => Promise<unknown>;
  label: string;
  kind?: string;
  stale?: () => void;
  children: ComponentChildren;
}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    stale?.();
    setBusy(true);
    setError(null);
    try {
      const sent = fieldsOf(form);
      await send(sent);
      if (JSON.stringify(fieldsOf(form)) === JSON.stringify(sent)) form.reset();
      else stale?.();
    } catch (failure) {
      setError(failure as Error);
    }
    setBusy(false);
  };
  return (
    <form class={kind} onSubmit={submit} onInput={stale}>
      {children}
      <button type="submit" class="main" disabled={busy}>
        {label}
      </button>
      <Problem error={error} />
    </form>
  );
}

const fieldsOf = (form: HTMLFormElement): Record<string, string> =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));

export function Field({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label class="field">
      <span>{label}</span>
      {children}
    </label>
  );
}

/** Options of a select: values with labels. */
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

/** Text that is shown only once, with a copy button. */
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

/** Copies text, also over plain http, where the browser's clipboard API is unavailable. */
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

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A button that opens a small panel; closed by Escape, a click outside, or a choice. */
export function Menu({
  label,
  children,
  kind = '',
  name,
  onClose,
}: {
  label: ComponentChildren;
  children: ComponentChildren;
  kind?: string;
  /** Accessible name if `label` is an icon. */
  name?: string;
  onClose?: () => void;
}) {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const menu = box.current!;
      if (!menu.open) return;
      const escaped = event instanceof KeyboardEvent && event.key === 'Escape';
      const target = event.target as Element;
      const chosen = event instanceof MouseEvent && (!menu.contains(target) || target.closest('.choice:not([aria-busy])')); // an Action reports an error beside it
      if (!escaped && !chosen) return;
      menu.open = false;
      if (escaped) menu.querySelector('summary')!.focus();
    };
    addEventListener('click', close);
    addEventListener('keydown', close);
    return () => {
      removeEventListener('click', close);
      removeEventListener('keydown', close);
    };
  }, []);
  return (
    <details class="menu" ref={box} onToggle={() => box.current!.open || onClose?.()}>
      <summary class={`button ${kind}`} aria-label={name}>
        {label}
      </summary>
      <div>{children}</div>
    </details>
  );
}

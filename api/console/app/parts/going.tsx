import type { ComponentChildren } from 'preact';

/** A bar with what is going on. */
export function Going({ label, value, children }: { label: string; value: number; children: ComponentChildren }) {
  return (
    <div class="going">
      <div class="row middle">
        <progress max={1} value={value} aria-label={label} />
        <span class="quiet figure">{Math.floor(value * 100)} %</span>
      </div>
      <div class="quiet">{children}</div>
    </div>
  );
}

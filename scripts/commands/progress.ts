import progress from 'cli-progress';

export interface Bar {
  /** 0 to 1. */
  to(fraction: number): void;
  close(): void;
}

export const NO_BAR: Bar = { to: () => {}, close: () => {} };

/** A progress bar on standard error if that is a terminal, else nothing. */
export function openBar(label: string): Bar {
  if (!process.stderr.isTTY) return NO_BAR;
  const bar = new progress.SingleBar({
    format: `{label} [{bar}] {percentage} %`,
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
  });
  bar.start(1, 0, { label });
  return { to: (fraction) => bar.update(fraction), close: () => bar.stop() };
}

import type { JSX } from 'preact';

/** 24 x 24 icons in the text colour; a label beside them gives their meaning. */
const PATHS = {
  bell: 'M6 16v-5a6 6 0 0 1 12 0v5l1.5 2h-15zM10 21h4',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16.2 16.2 21 21',
  upload: 'M12 16V5M7 9.5 12 4.5l5 5M4 16v3.5h16V16',
  download: 'M12 4v11M7 10.5l5 5 5-5M4 16v3.5h16V16',
  copy: 'M9 9h10v11H9zM15 9V4H5v11h4',
  up: 'm6 15 6-6 6 6',
  down: 'm6 9 6 6 6-6',
  filter: 'M4 6h16M7 12h10M10 18h4',
  close: 'M6 6l12 12M18 6 6 18',
} as const;

export function Icon({ of }: { of: keyof typeof PATHS }): JSX.Element {
  return (
    <svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
      <path d={PATHS[of]} stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

/** The product name with its logo. */
export function Brand({ link = true }: { link?: boolean }) {
  const inside = (
    <>
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="#2f4bc7" />
        <path d="M7 13h3v6H7zm5-5h3v16h-3zm5 6h3v4h-3zm5-3h3v10h-3z" fill="#fff" />
      </svg>
      <span>Longhand</span>
    </>
  );
  return link ? (
    <a class="brand" href="#/" aria-label="Longhand">
      {inside}
    </a>
  ) : (
    <div class="brand">{inside}</div>
  );
}

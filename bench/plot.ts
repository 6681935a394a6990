/** Draws docs/images/rtfx-wer.svg, speed against accuracy, from bench/results/held-out.json. Works on light and dark pages. */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

export interface Measured {
  what: string;
  machine: string;
  systems: { name: string; ours: boolean; minutesPerHour: [low: number, high: number]; wordErrorRate: [low: number, high: number] }[];
}

const WIDTH = 760;
const HEIGHT = 400;
const LEFT = 64;
const TOP = 52;
const BOTTOM = 340;
const RIGHT = 730;
const SPEED = { most: 100, step: 20 }; // RTFx
const ERRORS = { least: 0.1, most: 0.2, step: 0.02 };

const STYLE = `text{font:13px system-ui,sans-serif;fill:#24292f}.grid{stroke:#8884}.soft{fill:#57606a;font-size:12px}
.ours{fill:#2463eb;fill-opacity:.35;stroke:#2463eb}.theirs{fill:#d97706;fill-opacity:.35;stroke:#d97706}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#9da7b3}.ours{fill:#6ea8fe;stroke:#6ea8fe}.theirs{fill:#f5a742;stroke:#f5a742}}`;

const x = (rtfx: number) => LEFT + (rtfx / SPEED.most) * (RIGHT - LEFT);
const y = (rate: number) => BOTTOM - ((rate - ERRORS.least) / (ERRORS.most - ERRORS.least)) * (BOTTOM - TOP);
const at = (value: number) => value.toFixed(1);

/** A box per system: range of RTFx by range of WER. */
export function plot({ machine, systems }: Measured): string {
  const marks = systems.map(({ name, ours, minutesPerHour: [fast, slow], wordErrorRate: [low, high] }) => {
    const [left, right, top, bottom] = [x(60 / slow) - 3, x(60 / fast) + 3, y(high) - 3, y(low) + 3];
    const label = `<text x="${at((left + right) / 2)}" y="${at(bottom + 17)}" text-anchor="middle">${xml(name)}</text>`;
    return `<rect class="${ours ? 'ours' : 'theirs'}" rx="4" x="${at(left)}" y="${at(top)}" width="${at(right - left)}" height="${at(bottom - top)}"/>${label}`;
  });
  const columns = steps(0, SPEED.most, SPEED.step).map(
    (v) =>
      `<path class="grid" d="M${at(x(v))} ${TOP}V${BOTTOM}"/><text class="soft" x="${at(x(v))}" y="${BOTTOM + 18}" text-anchor="middle">${v}</text>`,
  );
  const rows = steps(ERRORS.least, ERRORS.most, ERRORS.step).map(
    (v) =>
      `<path class="grid" d="M${LEFT} ${at(y(v))}H${RIGHT}"/><text class="soft" x="${LEFT - 8}" y="${at(y(v) + 4)}" text-anchor="end">${Math.round(v * 100)} %</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img"><title>RTFx against word error rate</title>
<style>${STYLE}</style>
<text x="${LEFT}" y="22" font-weight="600">Word error rate against speed: further right is faster, further down more accurate</text>
<text class="soft" x="${LEFT}" y="40">${xml(machine)}; the same Whisper base weights; unseen English speech, recognition only</text>
${[...columns, ...rows, ...marks].join('\n')}
<text class="soft" x="${(LEFT + RIGHT) / 2}" y="${BOTTOM + 42}" text-anchor="middle">RTFx (hours of audio processed in an hour)</text>
</svg>
`;
}

function steps(from: number, to: number, by: number): number[] {
  return Array.from({ length: Math.round((to - from) / by) + 1 }, (_, i) => Number((from + i * by).toFixed(4)));
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

const ROOT = new URL('../', import.meta.url);

/** The chart of the committed results. */
export const heldOut = () => plot(JSON.parse(readFileSync(new URL('bench/results/held-out.json', ROOT), 'utf8')) as Measured);

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(new URL('docs/images/rtfx-wer.svg', ROOT), heldOut());

/** Charts of committed results as SVG. They work on light and dark pages. */

import type { Rate } from './accuracy/measures.ts';
import type { PeerRow } from './peers/comparison.ts';

const WIDTH = 760;
const HEIGHT = 400;
const LEFT = 64;
const TOP = 52;
const BOTTOM = 340;
const RIGHT = 730;
const STEPS = 5; // grid lines of an axis, at least
const FLAT = 0.1; // range of an axis whose values are all 0

const STYLE = `text{font:13px system-ui,sans-serif;fill:#24292f}.grid{stroke:#8884}.soft{fill:#57606a;font-size:12px}
.ours{fill:#2463eb;fill-opacity:.35;stroke:#2463eb}.theirs{fill:#d97706;fill-opacity:.35;stroke:#d97706}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#9da7b3}.ours{fill:#6ea8fe;stroke:#6ea8fe}.theirs{fill:#f5a742;stroke:#f5a742}}`;

/** Maps values to pixels, with round grid lines. */
interface Axis {
  ticks: number[];
  at(value: number): number;
}

/** A box per program: range of RTFx by 95 % interval of WER. */
export function speedChart(machine: string, rows: readonly PeerRow[]): string {
  const boxes = rows.map(({ name, version, range: [least, most], wordErrorRate: { interval } }) => ({
    name,
    ours: version === null,
    rtfx: [60 / most, 60 / least] as const,
    interval,
  }));
  const x = axis(0, Math.max(...boxes.map(({ rtfx }) => rtfx[1])), LEFT, RIGHT);
  const y = axis(0, Math.max(...boxes.map(({ interval }) => interval[1])), BOTTOM, TOP);
  const marks = boxes.map(({ name, ours, rtfx, interval }) => {
    const [left, right, top, bottom] = [x.at(rtfx[0]) - 3, x.at(rtfx[1]) + 3, y.at(interval[1]) - 3, y.at(interval[0]) + 3];
    const label = `<text x="${px((left + right) / 2)}" y="${px(bottom + 17)}" text-anchor="middle">${xml(name)}</text>`;
    return `<rect class="${ours ? 'ours' : 'theirs'}" rx="4" x="${px(left)}" y="${px(top)}" width="${px(right - left)}" height="${px(bottom - top)}"/>${label}`;
  });
  const columns = x.ticks.map(
    (v) =>
      `<path class="grid" d="M${px(x.at(v))} ${TOP}V${BOTTOM}"/><text class="soft" x="${px(x.at(v))}" y="${BOTTOM + 18}" text-anchor="middle">${v}</text>`,
  );
  return svg(
    'RTFx against word error rate',
    'Word error rate against speed: further right is faster, further down more accurate',
    machine,
    [
      ...columns,
      ...rateLines(y),
      ...marks,
      `<text class="soft" x="${(LEFT + RIGHT) / 2}" y="${BOTTOM + 42}" text-anchor="middle">RTFx (hours of audio processed in an hour); word error rate with its 95 % interval</text>`,
    ],
  );
}

/** A column per result, in order: the word error rate with its 95 % interval. */
export function historyChart(results: readonly { label: string; wordErrorRate: Rate }[]): string {
  const y = axis(0, Math.max(...results.map(({ wordErrorRate }) => wordErrorRate.interval[1])), BOTTOM, TOP);
  const step = (RIGHT - LEFT) / results.length;
  const marks = results.map(({ label, wordErrorRate: { rate, interval } }, i) => {
    const middle = LEFT + (i + 0.5) * step;
    const bar = `<rect class="ours" rx="4" x="${px(middle - 8)}" y="${px(y.at(interval[1]))}" width="16" height="${px(y.at(interval[0]) - y.at(interval[1]))}"/>`;
    const mean = `<path stroke="currentColor" class="ours" d="M${px(middle - 14)} ${px(y.at(rate))}h28"/>`;
    return `${bar}${mean}<text class="soft" x="${px(middle)}" y="${BOTTOM + 18}" text-anchor="middle">${xml(label)}</text>`;
  });
  return svg('Word error rate by version', 'Word error rate of joined English speech (line) with its 95 % interval (box)', 'test set', [
    ...rateLines(y),
    ...marks,
  ]);
}

function svg(title: string, heading: string, note: string, parts: string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img"><title>${xml(title)}</title>
<style>${STYLE}</style>
<text x="${LEFT}" y="22" font-weight="600">${xml(heading)}</text>
<text class="soft" x="${LEFT}" y="40">${xml(note)}</text>
${parts.join('\n')}
</svg>
`;
}

function rateLines(y: Axis): string[] {
  return y.ticks.map(
    (v) =>
      `<path class="grid" d="M${LEFT} ${px(y.at(v))}H${RIGHT}"/><text class="soft" x="${LEFT - 8}" y="${px(y.at(v) + 4)}" text-anchor="end">${Math.round(v * 100)} %</text>`,
  );
}

/** From `least` to the first grid line at or above `most`, on pixels `from` to `to`. */
function axis(least: number, most: number, from: number, to: number): Axis {
  const range = most - least || FLAT;
  const rough = range / STEPS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough)!;
  const count = Math.ceil(range / step);
  return {
    ticks: Array.from({ length: count + 1 }, (_, i) => Number((least + i * step).toFixed(6))),
    at: (value) => from + ((value - least) / (count * step)) * (to - from),
  };
}

const px = (value: number) => value.toFixed(1);

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

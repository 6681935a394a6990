import type { ConfidenceResults } from './reliability.ts';

const SIZE = 360;
const [LEFT, TOP] = [64, 52];
const WIDTH = 640;
const HEIGHT = TOP + SIZE + 56;

const STYLE = `text{font:13px system-ui,sans-serif;fill:#24292f}.grid{stroke:#8884}.ideal{stroke:#8a8f98;stroke-dasharray:5 4}.soft{fill:#57606a;font-size:12px}
.before{fill:#d97706;fill-opacity:.3;stroke:#d97706}.after{fill:#2463eb;fill-opacity:.45;stroke:#2463eb}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.soft{fill:#9da7b3}.before{fill:#f5a742;stroke:#f5a742}.after{fill:#6ea8fe;stroke:#6ea8fe}}`;

const at = (value: number) => value.toFixed(1);
const x = (share: number) => at(LEFT + share * SIZE);
const y = (share: number) => at(TOP + (1 - share) * SIZE);
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** Reliability diagram of the test set: a dot per bin, its area by the number of words. Works on light and dark pages. */
export function reliabilityPlot({ test }: ConfidenceResults): string {
  const dots = (['before', 'after'] as const).flatMap((name) =>
    test[name].bins.map(({ words, confidence, right }) => {
      const radius = Math.max(3, 40 * Math.sqrt(words / test[name].words));
      return `<circle class="${name}" cx="${x(confidence)}" cy="${y(right)}" r="${at(radius / 2)}"/>`;
    }),
  );
  const grid = [0, 0.2, 0.4, 0.6, 0.8, 1].map(
    (v) => `<path class="grid" d="M${x(v)} ${TOP}V${TOP + SIZE}M${LEFT} ${y(v)}H${LEFT + SIZE}"/>
<text class="soft" x="${x(v)}" y="${TOP + SIZE + 18}" text-anchor="middle">${v}</text><text class="soft" x="${LEFT - 8}" y="${at(Number(y(v)) + 4)}" text-anchor="end">${Math.round(v * 100)} %</text>`,
  );
  const legend = (['before', 'after'] as const).map((name, i) => {
    const top = TOP + 30 + i * 64;
    const { ece, brier } = test[name];
    return `<circle class="${name}" cx="${LEFT + SIZE + 28}" cy="${top - 4}" r="7"/><text x="${LEFT + SIZE + 44}" y="${top}">${name === 'before' ? 'token probability' : 'confidence'}</text>
<text class="soft" x="${LEFT + SIZE + 44}" y="${top + 19}">ECE ${percent(ece)}, Brier ${brier.toFixed(3)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img"><title>Reliability of word confidence</title>
<style>${STYLE}</style>
<text x="${LEFT}" y="22" font-weight="600">Share of correct words by confidence</text>
<text class="soft" x="${LEFT}" y="40">${test.after.words} words of ${test.clips} clips of the test set; the dashed line is perfect calibration</text>
${grid.join('\n')}
<path class="ideal" d="M${x(0)} ${y(0)}L${x(1)} ${y(1)}"/>
${[...dots, ...legend].join('\n')}
<text class="soft" x="${x(0.5)}" y="${TOP + SIZE + 42}" text-anchor="middle">confidence of the words</text>
</svg>
`;
}

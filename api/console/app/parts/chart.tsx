export interface Bar {
  /** Accessible name of the bar. */
  label: string;
  value: number;
}

/** Bar chart over time with a scale; `summary` is the text alternative. `marks` are spread below, from the first bar to the last. */
export function Chart({ bars, summary, marks, kind = '' }: { bars: Bar[]; summary: string; marks: string[]; kind?: string }) {
  const most = ceiling(Math.max(...bars.map(({ value }) => value), 0));
  return (
    <div class={`chart ${kind}`} role="img" aria-label={summary}>
      <div class="scale">
        <span>{most.toLocaleString()}</span>
        <span>{(most / 2).toLocaleString()}</span>
        <span>0</span>
      </div>
      <div class="bars">
        {bars.map(({ label, value }) => (
          <div class="bar" key={label} title={label}>
            <i style={{ height: `${(100 * value) / most}%` }} />
          </div>
        ))}
      </div>
      <div class="hours">
        {marks.map((mark) => (
          <span key={mark}>{mark}</span>
        ))}
      </div>
    </div>
  );
}

/** The next round number, for the top of the scale. */
function ceiling(value: number): number {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 8, 10].find((step) => step * power >= value)! * power;
}

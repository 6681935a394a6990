import type { Tensor } from '../../../runtime/session.ts';
import type { WhisperLoop } from '../model.ts';
import type { Batch, Detail, Encoded, Prediction, Source } from './batch.ts';
import { type LoopRow, loopFeeds } from './loop-feeds.ts';

const STEPS = 128; // tokens predicted in one call: most windows have fewer
const OUTPUTS = ['special_all', 'textId_all', 'textMax_all', 'textLse_all', 'align_all', 'chosen'];

/** A prediction for one row, made ahead: valid if the row continues with `after`. */
interface Ahead {
  after: number;
  at: Prediction;
  index: number;
}

interface Row extends LoopRow {
  tokens: number[];
  ahead: Ahead[];
}

/**
 * A batch for a graph that encodes and decodes in one call, made for GPUs: keys and values never cross the bus, and one call predicts many
 * tokens. The graph chooses each token as the decoder would without corrections; where the decoder chooses another one, the predictions
 * behind it are dropped and the row is decoded again from there. Rows have no state on the device.
 */
export class LoopBatch implements Batch {
  readonly capacity: number;
  readonly #model: WhisperLoop;
  readonly #rows: Row[] = [];

  constructor(model: WhisperLoop, capacity: number) {
    this.#model = model;
    this.capacity = capacity;
  }

  get size(): number {
    return this.#rows.length;
  }

  get ahead(): boolean {
    return this.#rows.some(({ ahead }) => ahead.length > 0);
  }

  async add(source: Source): Promise<number> {
    if (this.size >= this.capacity) throw new Error(`Cannot add a row: the batch holds ${this.size} of ${this.capacity} already`);
    return this.#rows.push({ encoded: await source(), tokens: [], ahead: [] }) - 1;
  }

  encoded(row: number): Encoded {
    return this.#rows[row]!.encoded;
  }

  release(): void {}

  fork(source: number): number {
    const { encoded, tokens, ahead } = this.#rows[source]!;
    return this.#rows.push({ encoded, tokens: [...tokens], ahead: [...ahead] }) - 1;
  }

  follow(row: number, source: number): void {
    this.#rows[row]!.tokens = [...this.#rows[source]!.tokens];
    this.#rows[row]!.ahead = [...this.#rows[source]!.ahead];
  }

  retreat(row: number, count: number): void {
    const { tokens } = this.#rows[row]!;
    tokens.length -= count;
    this.#rows[row]!.ahead = [];
  }

  remove(row: number): void {
    const last = this.#rows.pop()!;
    if (row < this.#rows.length) this.#rows[row] = last;
  }

  async step(tokens: readonly number[], details: readonly Detail[]): Promise<Prediction> {
    const found: (Ahead | null)[] = this.#rows.map((row, i) => this.#known(row, tokens[i]!, details[i]!));
    for (const [i, row] of this.#rows.entries()) row.tokens.push(tokens[i]!);
    for (const detail of ['text', 'logits'] as const) {
      const lacking = [...this.#rows.keys()].filter((i) => !found[i] && details[i] === detail);
      if (lacking.length === 0) continue;
      const predicted = await this.#run(
        lacking.map((i) => this.#rows[i]!),
        detail,
      );
      for (const [at, i] of lacking.entries()) found[i] = predicted[at]!;
    }
    return this.#together(found);
  }

  async prefill(first: number, tokens: readonly (readonly number[])[], detail: Detail): Promise<Prediction[]> {
    const rows = this.#rows.slice(first, first + tokens.length);
    for (const [i, row] of rows.entries()) row.tokens.push(...tokens[i]!);
    const predicted = detail === 'nothing' ? rows.map(() => null) : await this.#run(rows, detail);
    return predicted.map((one) => this.#together([one]));
  }

  /** The prediction behind `token` if it was made ahead. */
  #known(row: Row, token: number, detail: Detail): Ahead | null {
    const next = row.ahead.shift();
    if (next?.after === token && detail === 'text') return next;
    row.ahead = [];
    return null;
  }

  /** Predicts the next token of some rows and, for text, those behind it. */
  async #run(rows: readonly Row[], detail: Detail): Promise<Ahead[]> {
    const { facts, loop } = this.#model;
    const longest = Math.max(...rows.map(({ tokens }) => tokens.length));
    const steps = detail === 'text' ? Math.max(1, Math.min(STEPS, facts.longestText - longest)) : 1;
    const wanted = [...OUTPUTS, ...(detail === 'logits' ? ['text_last'] : [])];
    const output = await loop.run(loopFeeds(rows, steps, facts), Object.fromEntries(wanted.map((name) => [name, null])));
    const chosen = output.chosen!.data as BigInt64Array;
    const at = predictionOf(output);
    const made = chosen.length / rows.length;
    return rows.map((row, r) => {
      const all = Array.from({ length: made }, (_, n) => ({
        after: n === 0 ? row.tokens.at(-1)! : Number(chosen[(n - 1) * rows.length + r]),
        at,
        index: n * rows.length + r,
      }));
      const end = all.findIndex(({ after }, n) => n > 0 && after === facts.endOfText); // what follows the end predicts nothing
      const [first, ...ahead] = end < 0 ? all : all.slice(0, end);
      row.ahead = detail === 'text' ? ahead : [];
      return first!;
    });
  }

  /** One prediction of all rows; zeros where nothing was needed. */
  #together(found: readonly (Ahead | null)[]): Prediction {
    const { vocabulary, endOfText } = this.#model.facts;
    const rows = found.length;
    const X = vocabulary - endOfText;
    const some = found.find((one) => one)?.at;
    const width = some ? some.align.length / some.textMax.length : 0;
    const all: Prediction = {
      textId: new BigInt64Array(rows),
      textMax: new Float32Array(rows),
      textLse: new Float32Array(rows),
      special: new Float32Array(rows * X),
      align: new Float32Array(rows * width),
    };
    found.forEach((one, i) => {
      if (!one) return;
      const { at, index } = one;
      all.textId[i] = at.textId[index]!;
      all.textMax[i] = at.textMax[index]!;
      all.textLse[i] = at.textLse[index]!;
      all.special.set(at.special.subarray(index * X, (index + 1) * X), i * X);
      all.align.set(at.align.subarray(index * width, (index + 1) * width), i * width);
      if (!at.text) return;
      all.text ??= new Float32Array(rows * endOfText);
      all.text.set(at.text.subarray(index * endOfText, (index + 1) * endOfText), i * endOfText);
    });
    return all;
  }
}

function predictionOf(output: Record<string, Tensor>): Prediction {
  const of = (name: string) => output[name]?.data;
  return {
    textId: of('textId_all') as BigInt64Array,
    textMax: of('textMax_all') as Float32Array,
    textLse: of('textLse_all') as Float32Array,
    special: of('special_all') as Float32Array,
    align: of('align_all') as Float32Array,
    text: of('text_last') as Float32Array | undefined,
  };
}

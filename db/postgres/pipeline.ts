/* Several statements in one round trip: parse, bind and execute for each, then one sync. PostgreSQL runs them as one transaction unless
   they say otherwise, so a `set local` in the first applies to the rest. Statements are prepared once per connection. */

export interface Statement {
  /** With $1, $2 … as parameters. */
  text: string;
  values: readonly unknown[];
}

/** The parts of a `pg` connection that are used: its documented interface for custom queries (`query.submit`). */
export interface Client {
  query(query: Pipeline): void;
  query(text: string): Promise<{ rows: Record<string, unknown>[]; command: string }>;
  getTypeParser(oid: number, format: 'text'): (text: string) => unknown;
  host?: string;
  port?: number;
  processID?: number | null;
  secretKey?: number | null;
  /** The connection goes through PgBouncer: nothing is prepared. */
  bouncing?: boolean;
  /** The connection cannot be reused. */
  failed?: boolean;
}

/** Rows of the last statement, and the number of rows affected. */
export interface Outcome {
  rows: Record<string, unknown>[];
  count: number;
}

interface Wire {
  stream: { cork(): void; uncork(): void };
  parse(message: { name: string; text: string; types?: number[] }): void;
  close(message: { type: 'S'; name: string }): void;
  bind(message: { portal: string; statement: string; values: unknown[]; valueMapper: (value: unknown) => unknown }): void;
  describe(message: { type: 'P'; name: string }): void;
  execute(message: { portal: string; rows: number }): void;
  sync(): void;
}

interface Field {
  name: string;
  dataTypeID: number;
}

const KEPT = 200; // prepared statements per connection; others are parsed each time
const connections = new WeakMap<Client, Prepared>();
let names = 0;

/** Prepared statements of one connection. */
interface Prepared {
  /** Names by text. */
  known: Map<string, string>;
  /** Statements of a failed pipeline that may exist on the server; closed before the next one. */
  doubtful: string[];
}

function preparedBy(client: Client): Prepared {
  const prepared = connections.get(client) ?? { known: new Map(), doubtful: [] };
  connections.set(client, prepared);
  return prepared;
}

/** Runs the statements in order, in one round trip. Resolves with the result of the last one; rejects with PostgreSQL's error. */
export function pipeline(client: Client, statements: readonly Statement[]): Promise<Outcome> {
  return new Promise((resolve, reject) => client.query(new Pipeline(client, statements, resolve, reject)));
}

class Pipeline {
  #client: Client;
  #statements: readonly Statement[];
  #resolve: (outcome: Outcome) => void;
  #reject: (error: Error) => void;
  #fresh = new Map<string, string>();
  #position = 0;
  #read: [name: string, parse: (text: string) => unknown][] = [];
  #rows: Record<string, unknown>[] = [];
  #count = 0;
  #failure: unknown;

  constructor(client: Client, statements: readonly Statement[], resolve: (outcome: Outcome) => void, reject: (error: Error) => void) {
    this.#client = client;
    this.#statements = statements;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(wire: Wire): Error | null {
    let values: unknown[][];
    try {
      values = this.#statements.map((statement) => statement.values.map(toWire)); // before anything is sent, because it may throw
    } catch (error) {
      return error as Error;
    }
    const { known, doubtful } = preparedBy(this.#client);
    wire.stream.cork();
    try {
      for (const name of doubtful.splice(0)) wire.close({ type: 'S', name }); // closing an unknown name is not an error
      for (const [index, { text }] of this.#statements.entries()) {
        let name = known.get(text) ?? this.#fresh.get(text);
        if (name === undefined) {
          name = !this.#client.bouncing && known.size + this.#fresh.size < KEPT ? `longhand_${++names}` : '';
          if (name) this.#fresh.set(text, name);
          wire.parse({ name, text });
        }
        wire.bind({ portal: '', statement: name, values: values[index]!, valueMapper: (value) => value });
        wire.describe({ type: 'P', name: '' });
        wire.execute({ portal: '', rows: 0 });
      }
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
    return null;
  }

  handleRowDescription({ fields }: { fields: Field[] }): void {
    this.#read = fields.map((field) => [field.name, this.#client.getTypeParser(field.dataTypeID, 'text')]);
    this.#rows = [];
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (this.#position < this.#statements.length - 1 || this.#failure) return;
    try {
      const row: Record<string, unknown> = {};
      for (const [index, [name, parse]] of this.#read.entries()) {
        const text = fields[index];
        row[name] = text === null || text === undefined ? null : parse(text);
      }
      this.#rows.push(row);
    } catch (error) {
      this.#failure = error;
    }
  }

  handleCommandComplete({ text = '' }: { text?: string }): void {
    this.#count = Number(/\d+$/.exec(text)?.[0] ?? 0); // UPDATE 3, INSERT 0 1
    this.#position++;
    if (this.#position < this.#statements.length) this.#rows = [];
  }

  handleEmptyQuery(): void {
    this.#position++;
  }

  handleError(error: Error): void {
    preparedBy(this.#client).doubtful.push(...this.#fresh.values());
    this.#fresh.clear();
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    const { known } = preparedBy(this.#client);
    for (const [text, name] of this.#fresh) known.set(text, name);
    if (this.#failure) this.#reject(this.#failure as Error);
    else this.#resolve({ rows: this.#rows, count: this.#count });
  }

  /** COPY is not supported in a pipeline. */
  handleCopyInResponse(wire: { sendCopyFail(why: string): void }): void {
    wire.sendCopyFail('COPY is not supported here');
  }

  handleCopyData(): void {}

  handlePortalSuspended(): void {}
}

/** Converts a value to PostgreSQL's text format; bytes stay bytes. Arrays become array literals, plain objects JSON. */
function toWire(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (Buffer.isBuffer(value)) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `{${value.map(toElement).join(',')}}`;
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

function toElement(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Array.isArray(value)) return toWire(value) as string;
  const text = toWire(value);
  const plain = Buffer.isBuffer(text) ? `\\x${text.toString('hex')}` : text!;
  return `"${plain.replace(/["\\]/g, '\\$&')}"`;
}

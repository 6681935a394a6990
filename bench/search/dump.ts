import { createReadStream, rmSync } from 'node:fs';
import type { Db } from '../../db/postgres/orm.ts';

const SHORTEST = 8; // bytes of a word; shorter ones occur in ciphertext by chance

/** Result of searching a dump for words. */
export interface Dumped {
  tables: number;
  bytes: number;
  /** Number of different words that were looked for. */
  words: number;
  /** Tables in which one was found, with the word. */
  found: string[];
}

/**
 * Dumps every table (COPY in binary form: text and bytea as they are stored) through `file`, which the server writes, and searches it for the
 * words. `plain` is a text that the database stores unencrypted: it must be found, otherwise the search proves nothing.
 */
export async function searchDump(server: Db, file: string, words: Iterable<string>, plain: string): Promise<Dumped> {
  const finder = openFinder(words);
  const control = openFinder([plain]);
  const tables = await server.direct(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg\\_toast%' order by 1`,
  );
  const dumped: Dumped = { tables: tables.length, bytes: 0, words: finder.words, found: [] };
  let controls = 0;
  for (const { name } of tables) {
    await server.direct(`copy ${name} to '${file}' (format binary)`);
    try {
      let rest = Buffer.alloc(0);
      for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
        const data = Buffer.concat([rest, chunk]);
        dumped.bytes += chunk.length;
        for (const word of finder.find(data)) dumped.found.push(`${name}: ${word}`);
        controls += [...control.find(data)].length;
        rest = data.subarray(-Math.max(finder.longest, control.longest) + 1);
      }
    } finally {
      rmSync(file, { force: true });
    }
  }
  if (!controls) throw new Error(`Cannot judge the dump: it does not contain ${plain}, which is stored unencrypted`);
  return dumped;
}

interface Finder {
  words: number;
  /** Bytes. */
  longest: number;
  find(data: Buffer): Generator<string>;
}

/** Finds many words in bytes, as written and in lower case. */
function openFinder(words: Iterable<string>): Finder {
  const all = new Set<string>();
  for (const word of words) for (const form of [word, word.toLowerCase()]) if (Buffer.byteLength(form) >= SHORTEST) all.add(form);
  const places = new Map<number, Buffer[]>();
  const seen = new Uint8Array(2 ** 16); // of the first two bytes
  let longest = 0;
  for (const word of all) {
    const bytes = Buffer.from(word);
    const head = bytes.readUInt32LE(0);
    places.set(head, [...(places.get(head) ?? []), bytes]);
    seen[head & 0xffff] = 1;
    longest = Math.max(longest, bytes.length);
  }
  return {
    ...{ words: all.size, longest },
    *find(data) {
      for (let at = 0; at + SHORTEST <= data.length; at++) {
        if (!seen[data[at]! | (data[at + 1]! << 8)]) continue;
        const found = places.get(data.readUInt32LE(at))?.find((bytes) => data.subarray(at, at + bytes.length).equals(bytes));
        if (found) yield found.toString();
      }
    },
  };
}

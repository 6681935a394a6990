import { setTimeout as sleep } from 'node:timers/promises';
import type { Disk } from '../support/processes/disk.ts';
import { type Seeded, seeded } from '../support/seeded.ts';
import type { Link } from './link.ts';
import type { Part, Role } from './parts.ts';

const MINUTE = 60_000;
const LONGEST_MS = { down: 20_000, frozen: 90_000, lost: 40_000, full: 20_000 }; // 90 s: longer than a lease of 60 s
const LONGEST_SHIFT_MS = 120 * MINUTE;
const PROGRAMS: readonly Role[] = ['api', 'engine', 'courier'];
const MOST_AT_ONCE = 3;
const LONGEST_PAUSE_MS = 10_000; // between the beginnings of two faults

/** A fault: what it does to a part, until it is over. */
interface Fault {
  name: string;
  /** How often it is chosen. */
  weight: number;
  /** Roles that it can befall. */
  roles: readonly Role[];
  befall(part: Part, chance: Seeded, disk: Disk | null): Promise<void>;
}

/** A link of the part fails for a while. */
function lostLink(name: string, begin: (link: Link) => void): Fault {
  return {
    ...{ name, weight: 3, roles: PROGRAMS },
    async befall({ links }, chance) {
      const link = chance.pick(Object.values(links))!;
      begin(link);
      await within(chance, LONGEST_MS.lost);
      link.mend();
    },
  };
}

const within = (chance: Seeded, most: number) => sleep(chance.below(most));

export const FAULTS: readonly Fault[] = [
  {
    name: 'killed',
    weight: 4,
    roles: [...PROGRAMS, 'pgbouncer', 'balancer'],
    async befall(part, chance) {
      await part.stop('SIGKILL');
      await within(chance, LONGEST_MS.down);
      await part.start();
    },
  },
  {
    name: 'stopped and restarted',
    weight: 2,
    roles: PROGRAMS,
    async befall(part) {
      await part.stop('SIGTERM');
      await part.start();
    },
  },
  {
    name: 'frozen',
    weight: 3,
    roles: [...PROGRAMS, 'pgbouncer'],
    async befall(part, chance) {
      part.signal('SIGSTOP');
      await within(chance, part.role === 'pgbouncer' ? LONGEST_MS.lost : LONGEST_MS.frozen);
      part.signal('SIGCONT');
    },
  },
  {
    name: 'clock leaps',
    weight: 1,
    roles: PROGRAMS,
    async befall(part, chance) {
      await part.stop('SIGTERM');
      await part.start(Math.round((chance.random() * 2 - 1) * LONGEST_SHIFT_MS));
      await within(chance, LONGEST_MS.frozen);
      await part.stop('SIGTERM');
      await part.start();
    },
  },
  lostLink('connections reset', (link) => link.cut()),
  lostLink('packets lost', (link) => link.stall()),
  {
    name: 'disk full',
    weight: 2,
    roles: ['api'],
    async befall(_part, chance, disk) {
      disk?.fill(0);
      await within(chance, LONGEST_MS.full);
      disk?.empty();
    },
  },
];

/** Number of faults by what befell which part. */
export type Befallen = Map<string, number>;

/**
 * Lets faults befall random parts until `until`, at most MOST_AT_ONCE at a time and one per part. Their order depends on `chance` alone: a
 * fault waits for its part, and makes its own random choices. Resolves once all are over. Rejects if a part cannot be restarted.
 */
export async function cause(
  parts: readonly Part[],
  disk: Disk | null,
  chance: Seeded,
  until: number,
  log: (line: string) => void,
): Promise<Befallen> {
  const befallen: Befallen = new Map();
  const hat = FAULTS.filter(({ name }) => disk || name !== 'disk full').flatMap((fault) => Array<Fault>(fault.weight).fill(fault));
  const going = new Set<Promise<void>>();
  const failures: unknown[] = [];
  while (!failures.length) {
    await within(chance, LONGEST_PAUSE_MS);
    const fault = chance.pick(hat)!;
    const part = chance.pick(parts.filter(({ role }) => fault.roles.includes(role)))!;
    const own = seeded(chance.below(2 ** 31));
    while (part.busy || going.size >= MOST_AT_ONCE) await Promise.race(going);
    if (Date.now() >= until) break;
    const title = `${part.role}: ${fault.name}`;
    befallen.set(title, (befallen.get(title) ?? 0) + 1);
    log(`${part.name}: ${fault.name}`);
    part.busy = true;
    const one = fault
      .befall(part, own, disk)
      .catch((error) => void failures.push(error))
      .finally(() => {
        part.busy = false;
        going.delete(one);
      });
    going.add(one);
  }
  await Promise.all(going);
  if (failures.length) throw failures[0];
  return befallen;
}

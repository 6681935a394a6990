import { quantile } from './errors/align.ts';
import { seeded } from './random.ts';

export interface Load {
  /** Hours of audio per day. */
  hoursPerDay: number;
  /** Mean length of a recording, minutes. */
  meanMinutes: number;
  /** Share of the day's audio that arrives in the busiest hour: 1/24 is even. */
  busyHour: number;
}

/** Customary in telephony. */
export const BUSY_HOUR = 0.15;

export interface Host {
  cores: number;
  minutesPerHour: number;
  gib: number;
}

export interface Sizing {
  hosts: number;
  cores: number;
  gib: number;
  /** Seconds from arrival to completion of recordings that arrive in the busy hour. */
  wait: { p50: number; p95: number };
  /** Utilisation of the hosts in the busy hour. */
  busy: number;
}

const PATIENCE_S = 300; // maximum p95 of the time to completion in the busy hour, seconds
const SLOWER = 1.25; // the same for recordings that take longer by themselves: multiple of the p95 of their processing time
const DAYS = 5; // simulated days; the first fills the queue and is not counted
const COUNTED = 50; // recordings of which percentiles say something
const LEAST_LOAD = 0.01; // hours per day: with less, nobody waits any shorter
const FLEET = 50; // hosts; larger ones are simulated as several, which wait hardly longer

/** The smallest number of hosts that keeps the wait short, found by simulation. More hosts do not make one recording faster. */
export function size(load: Load, host: Host): Sizing {
  const least = Math.max(1, Math.ceil((load.hoursPerDay * load.busyHour * host.minutesPerHour) / 60));
  const fleets = Math.ceil(least / FLEET);
  const share = { ...load, hoursPerDay: Math.max(LEAST_LOAD, load.hoursPerDay / fleets) };
  for (let hosts = Math.max(1, Math.floor((least / fleets) * 0.7)); ; hosts++) {
    const { alone, wait, busy } = simulate(share, host, hosts);
    if (wait.p95 > PATIENCE_S && !(wait.p95 <= SLOWER * alone && busy <= 1)) continue;
    const all = hosts * fleets;
    return { hosts: all, cores: all * host.cores, gib: all * host.gib, wait, busy };
  }
}

/** Days that bring enough recordings in the busiest hour. */
function daysFor({ hoursPerDay, meanMinutes, busyHour }: Load): number {
  return Math.max(DAYS, 1 + Math.ceil((COUNTED * meanMinutes) / (60 * hoursPerDay * busyHour)));
}

/**
 * First come, first served, over several days of Poisson arrivals with log-normal lengths; each host processes one recording at a time.
 * `alone`: p95 of the processing time of the same recordings, seconds.
 */
function simulate(load: Load, host: Host, hosts: number, seed = 1): Pick<Sizing, 'wait' | 'busy'> & { alone: number } {
  const days = daysFor(load);
  const random = seeded(seed);
  const free = new Array<number>(hosts).fill(0);
  const waits: number[] = [];
  const works: number[] = [];
  const sigma = 0.9; // spread of call lengths: many short, few long
  for (let hour = 0; hour < days * 24; hour++) {
    const share = profile(hour % 24, load.busyHour);
    const rate = (load.hoursPerDay * share * 60) / load.meanMinutes / 3600; // recordings per second
    for (let t = 0; rate > 0; ) {
      t += -Math.log(1 - random.next()) / rate;
      if (t >= 3600) break;
      const arrival = hour * 3600 + t;
      const minutes = load.meanMinutes * Math.exp(sigma * random.normal() - (sigma * sigma) / 2);
      const work = (minutes / 60) * host.minutesPerHour * 60 + 0.3;
      const next = free.indexOf(Math.min(...free));
      const begin = Math.max(arrival, free[next]!);
      free[next] = begin + work;
      if (hour >= 24 && hour % 24 === BUSIEST) {
        waits.push(free[next]! - arrival);
        works.push(work);
      }
    }
  }
  for (const seconds of [waits, works]) seconds.sort((a, b) => a - b);
  return {
    wait: { p50: quantile(waits, 0.5), p95: quantile(waits, 0.95) },
    busy: works.reduce((sum, work) => sum + work, 0) / (hosts * 3600 * (days - 1)),
    alone: quantile(works, 0.95),
  };
}

const BUSIEST = 11;

/** Share of the day's audio in one hour: a working day from 8 to 18 around the busy hour, 20 % of the rest at night. */
function profile(hour: number, busyHour: number): number {
  if (hour === BUSIEST) return busyHour;
  const rest = 1 - busyHour;
  const day = hour >= 8 && hour < 18;
  return day ? (rest * 0.9) / 9 : (rest * 0.1) / 14;
}

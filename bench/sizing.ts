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
const DAYS = 5; // simulated days; the first fills the queue and is not counted

/** The smallest number of hosts that keeps the wait short, found by simulation. */
export function size(load: Load, host: Host): Sizing {
  const least = Math.max(1, Math.ceil((load.hoursPerDay * load.busyHour * host.minutesPerHour) / 60));
  for (let hosts = Math.max(1, Math.floor(least * 0.7)); ; hosts++) {
    const found = simulate(load, host, hosts);
    if (found.wait.p95 <= PATIENCE_S || hosts > least * 4 + 4) return found;
  }
}

/** First come, first served, over several days of Poisson arrivals with log-normal lengths; each host processes one recording at a time. */
function simulate(load: Load, host: Host, hosts: number, seed = 1): Sizing {
  const random = seeded(seed);
  const free = new Array<number>(hosts).fill(0);
  const waits: number[] = [];
  let used = 0;
  const sigma = 0.9; // spread of call lengths: many short, few long
  for (let hour = 0; hour < DAYS * 24; hour++) {
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
        used += work;
      }
    }
  }
  waits.sort((a, b) => a - b);
  const at = (p: number) => waits[Math.min(waits.length - 1, Math.floor(p * waits.length))] ?? 0;
  return {
    hosts,
    cores: hosts * host.cores,
    gib: hosts * host.gib,
    wait: { p50: at(0.5), p95: at(0.95) },
    busy: used / (hosts * 3600 * (DAYS - 1)),
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

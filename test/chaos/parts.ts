import { setTimeout as sleep } from 'node:timers/promises';
import type { Link } from './link.ts';

export const ROLES = ['api', 'engine', 'courier', 'pgbouncer', 'balancer'] as const;
export type Role = (typeof ROLES)[number];

/** A process that `start` of a part has started. */
export interface Running {
  pid: number;
  /** Sends the signal and resolves once the process has exited. */
  stop(signal: NodeJS.Signals): Promise<unknown>;
}

export interface PartOptions {
  name: string;
  role: Role;
  /** Links of the part to the others. */
  links: Readonly<Record<string, Link>>;
  /** Starts a process and resolves once it serves; `shift`: milliseconds by which its clock is wrong. */
  start(shift: number): Promise<Running>;
}

/** A process of the service that faults stop and start. */
export class Part {
  readonly name: string;
  readonly role: Role;
  readonly links: PartOptions['links'];
  /** A fault is in progress. */
  busy = false;
  readonly #start: PartOptions['start'];
  #running: Running | null = null;

  constructor({ name, role, links, start }: PartOptions) {
    this.name = name;
    this.role = role;
    this.links = links;
    this.#start = start;
  }

  get pid(): number | null {
    return this.#running?.pid ?? null;
  }

  /** Starts the part, again and again while it cannot be started because others are missing. */
  async start(shift = 0): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        this.#running = await this.#start(shift);
        return;
      } catch (error) {
        if (tries === 20) throw error;
        await sleep(1000);
      }
    }
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    await this.#running?.stop(signal);
    this.#running = null;
  }

  /** Sends a signal, if the part still runs. */
  signal(signal: NodeJS.Signals): void {
    try {
      if (this.#running) process.kill(this.#running.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

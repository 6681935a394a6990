import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Process ids of the running media programs that a process has started, including the sandbox programs around them. */
export function mediaPrograms(parent: number): number[] {
  const children = childrenOf(parent);
  return [...children, ...children.flatMap(childrenOf)].filter((pid) =>
    /^(?:ff(?:mpeg|probe)|unshare|setpriv|prlimit)$/.test(readOr(`/proc/${pid}/comm`).trim()),
  );
}

function childrenOf(pid: number): number[] {
  return readOr(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

/** Whether a process is running; a zombie is not. */
export function runs(pid: number): boolean {
  return /^State:\s+[^Z]/m.test(readOr(`/proc/${pid}/status`));
}

/** Name and state of a process that has not been reaped, for messages: `123 ffmpeg, State: T (stopped), in do_signal_stop`. */
export function stateOf(pid: number): string {
  const status = readOr(`/proc/${pid}/status`);
  return `${pid} ${/^Name:\s+(.*)/m.exec(status)?.[1]}, ${/^State:.*/m.exec(status)?.[0]}, in ${readOr(`/proc/${pid}/wchan`)}`;
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // it has exited
  }
}

/** Kills media programs of a process as they appear, each once, `delayMs` after its detection, until `stop` is called. */
export function hunt(parent: number, delayMs: () => number, most = Number.POSITIVE_INFINITY) {
  const seen = new Set<number>();
  const hunter = { kills: 0, stop: () => void (over = true) };
  let over = false;
  const strike = async (pid: number) => {
    await sleep(delayMs());
    if (over || hunter.kills >= most || !mediaPrograms(parent).includes(pid)) return;
    process.kill(pid, 'SIGKILL');
    hunter.kills++;
  };
  const look = async () => {
    for (; !over; await sleep(2)) {
      for (const pid of mediaPrograms(parent)) {
        if (seen.has(pid)) continue;
        seen.add(pid);
        strike(pid).catch(() => {}); // it has already exited
      }
    }
  };
  void look();
  return hunter;
}

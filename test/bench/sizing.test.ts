import t from 'tap';
import { BUSY_HOUR, size } from '../../bench/sizing.ts';

const load = { hoursPerDay: 200, meanMinutes: 10, busyHour: BUSY_HOUR };
const host = { cores: 2, minutesPerHour: 1, gib: 3 };

t.test('size() keeps one host busy for the duration of the work of the busy hour', async (t) => {
  const found = size(load, host);
  t.match(found, { hosts: 1, cores: 2, gib: 3 });
  t.ok(Math.abs(found.busy - 0.5) < 0.1, `30 hours of audio take 30 minutes: ${found.busy}`); // arrivals are random
  t.ok(found.wait.p50 > 5 && found.wait.p50 <= found.wait.p95 && found.wait.p95 <= 300, 'at least its own processing time, at most 300 s');
});

t.test('size() returns as many hosts as the busy hour needs, and no more', async (t) => {
  const found = size({ ...load, hoursPerDay: 2000 }, host); // 300 h of audio arrive per hour and a host processes 60 h: five hosts would be fully utilised
  t.ok(found.hosts >= 5 && found.hosts <= 7, `${found.hosts}`);
  t.strictSame([found.cores, found.gib], [found.hosts * 2, found.hosts * 3]);
  t.ok(found.wait.p95 <= 300);
});

t.test('size() is deterministic', async (t) => {
  t.strictSame(size(load, host), size(load, host));
});

t.test('size() adds no hosts for recordings that take longer than the wanted time by themselves', async (t) => {
  const found = size({ ...load, meanMinutes: 60 }, { ...host, minutesPerHour: 2.8 });
  t.ok(found.hosts <= 5 && found.busy > 0.25, JSON.stringify(found)); // 30 h of audio take 84 minutes; the longest 5 % of the recordings over 5 minutes each
  const slow = size({ ...load, meanMinutes: 120 }, { ...host, minutesPerHour: 20 });
  t.ok(slow.hosts <= 20, JSON.stringify(slow)); // 600 minutes
});

t.test('size() counts enough recordings of a small load to say how long they wait', async (t) => {
  for (const hoursPerDay of [0.001, 0.1, 1]) {
    const { hosts, wait, busy } = size({ ...load, hoursPerDay }, host);
    t.equal(hosts, 1);
    t.ok(wait.p50 > 1 && wait.p95 < 120, `${hoursPerDay} h: ${wait.p50} to ${wait.p95} s`); // ten minutes take 10 s alone
    t.ok(busy > 0 && busy < 0.01);
  }
});

t.test('size() answers for loads of any size, in proportion', async (t) => {
  const slow = { ...host, minutesPerHour: 120 };
  for (const hoursPerDay of [2000, 200_000, 1e9]) {
    const { hosts } = size({ ...load, hoursPerDay }, slow);
    const least = (hoursPerDay * BUSY_HOUR * 120) / 60;
    t.ok(hosts >= 0.95 * least && hosts <= 1.1 * least, `${hosts} of at least ${least}`);
  }
});

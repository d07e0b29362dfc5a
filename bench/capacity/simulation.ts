/** A part of the installation that works on so many calls at the same time. The others wait in order. */
export interface Station {
  readonly name: string;
  readonly servers: number;
}

/** A stay of a call at a station. */
export interface Visit {
  readonly at: string;
  readonly seconds: number;
  /** Work at another station during the stay, in equal parts at equal distances. */
  readonly beside?: { readonly at: string; readonly seconds: number; readonly parts: number };
}

export interface Simulation {
  readonly stations: readonly Station[];
  /** Calls arrive by chance, independently of each other. */
  readonly perSecond: number;
  readonly seconds: number;
  /** The stays of each call, one after another. The real durations vary by chance around these. */
  readonly visits: readonly Visit[];
}

export interface Simulated {
  /** The part of the time in which the servers of each station worked, from 0 to 1. */
  readonly use: Readonly<Record<string, number>>;
  /** The 95th percentile of the time that a call waited in all, in seconds. */
  readonly waitP95: number;
}

interface Waiting {
  readonly since: number;
  readonly seconds: number;
  readonly begun: (waited: number, ends: number) => void;
}

/** Simulates calls that pass stations, event by event. The same input always has the same result. */
export function simulate({ stations, perSecond, seconds, visits }: Simulation): Simulated {
  const chance = seededChance();
  const later = new Schedule();
  const places = new Map(
    stations.map((station) => [station.name, { ...station, busy: 0, worked: 0, queue: [] as Waiting[] }]),
  );
  const waits: number[] = [];

  const stay = (at: string, now: number, length: number, begun: Waiting['begun'] = () => {}): void => {
    const place = places.get(at);
    if (!place) throw new Error(`there is no station ${at}`);
    place.queue.push({ since: now, seconds: length, begun });
    serve(place, now);
  };
  const serve = (place: { servers: number; busy: number; worked: number; queue: Waiting[] }, now: number): void => {
    while (place.busy < place.servers) {
      const next = place.queue.shift();
      if (!next) return;
      const ends = now + next.seconds;
      place.busy++;
      place.worked += Math.max(0, Math.min(ends, seconds) - Math.min(now, seconds));
      next.begun(now - next.since, ends);
      later.add(ends, (time) => {
        place.busy--;
        serve(place, time);
      });
    }
  };
  const pass = (now: number, left: readonly Visit[], waited: number): void => {
    const [visit, ...rest] = left;
    if (!visit) return void waits.push(waited);
    stay(visit.at, now, visit.seconds * exponential(chance), (wait, ends) => {
      const begins = ends - (ends - now - wait);
      const { beside } = visit;
      for (let part = 0; beside && part < beside.parts; part++) {
        const time = begins + ((ends - begins) * part) / beside.parts;
        later.add(time, (then) => stay(beside.at, then, beside.seconds / beside.parts));
      }
      later.add(ends, (time) => pass(time, rest, waited + wait));
    });
  };

  for (let time = exponential(chance) / perSecond; time < seconds; time += exponential(chance) / perSecond)
    later.add(time, (now) => pass(now, visits, 0));
  later.run();
  waits.sort((a, b) => a - b);
  const use = [...places.values()].map(({ name, worked, servers }) => [name, worked / servers / seconds]);
  return { use: Object.fromEntries(use), waitP95: waits[Math.floor(waits.length * 0.95)] ?? 0 };
}

/** Runs events in the order of their times. Keeps them as a heap. */
class Schedule {
  private readonly events: { readonly time: number; readonly run: (time: number) => void }[] = [];

  add(time: number, run: (time: number) => void): void {
    const { events } = this;
    let at = events.length;
    for (let up = (at - 1) >> 1; at > 0 && this.time(up) > time; up = (at - 1) >> 1) {
      this.move(up, at);
      at = up;
    }
    events[at] = { time, run };
  }

  run(): void {
    for (let first = this.next(); first; first = this.next()) first.run(first.time);
  }

  private next() {
    const { events } = this;
    const [first, last] = [events[0], events.pop()];
    if (!first || !last || events.length === 0) return first;
    let at = 0;
    for (let down = this.earlier(at); down < events.length && this.time(down) < last.time; down = this.earlier(at)) {
      this.move(down, at);
      at = down;
    }
    events[at] = last;
    return first;
  }

  private earlier(of: number): number {
    const [one, two] = [2 * of + 1, 2 * of + 2];
    return two < this.events.length && this.time(two) < this.time(one) ? two : one;
  }

  private time = (at: number): number => this.events[at]?.time ?? Number.POSITIVE_INFINITY;

  private move(from: number, to: number): void {
    this.events[to] = this.events[from] as (typeof this.events)[number];
  }
}

const exponential = (chance: () => number): number => -Math.log(1 - chance());

/** Returns numbers from 0 to 1 (mulberry32). */
function seededChance(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

import type { Random } from './random.ts';

/** An event due at a time, in a process if it belongs to one. */
interface Event {
  readonly at: number;
  readonly owner: SimulatedProcess | undefined;
  readonly kind: 'timer' | 'reply';
  readonly work: () => void;
  cancelled: boolean;
}

/** A process of the simulation: when it is killed, none of its events happens; when it is frozen, all of them wait. */
export class SimulatedProcess {
  readonly name: string;
  isDead = false;
  diedAt = Number.POSITIVE_INFINITY;
  isFrozen = false;
  /** Events that became due while it was frozen. */
  readonly held: Event[] = [];
  /** Steps after which something happens to it. */
  readonly fates = new Map<number, () => void>();
  #steps = 0;

  constructor(name: string) {
    this.name = name;
  }

  /**
   * Does something that is visible outside the process: a request, a write. The fate of the step may come before or after it.
   */
  step(work: () => void): void {
    if (this.isDead) return;
    this.#steps += 1;
    this.fates.get(2 * this.#steps)?.();
    if (this.isDead) return;
    work();
    this.fates.get(2 * this.#steps + 1)?.();
  }
}

const batchId = /[\w-]+-b-[0-9a-f-]{36}/g;

/** The time of day at which each world begins. */
const beginning = Date.UTC(2026, 0, 1);

/**
 * Simulated time and the processes in it. One event happens at a time; everything that follows from it without waiting
 * (promises) belongs to the same process and ends before the next event. So a world needs neither threads nor real time, and
 * the same seed gives the same run.
 */
export class World {
  now = 0;
  /** Events that have happened. */
  count = 0;
  /** Hash of all events, in order. */
  trace = 0;
  readonly random: Random;
  /** Lines that describe events; kept only if wanted. */
  readonly lines: string[] | undefined;
  /** The next one is last; of those at one time, each follows those scheduled before it. */
  readonly #events: Event[] = [];
  #current: SimulatedProcess | undefined;
  /** Names of batches in the trace, because no seed determines their ids. */
  readonly #batches = new Map<string, string>();

  constructor(random: Random, options: { readonly keepLines?: boolean } = {}) {
    this.random = random;
    this.lines = options.keepLines ? [] : undefined;
  }

  /** The process that the present event belongs to. */
  get current(): SimulatedProcess | undefined {
    return this.#current;
  }

  get timeOfDay(): number {
    return beginning + this.now;
  }

  /** Records an event for the trace. */
  tell(what: string): void {
    const text = what.replaceAll(batchId, (id) => this.#batchName(id));
    let hash = this.trace;
    for (let place = 0; place < text.length; place += 1)
      hash = (Math.imul(hash, 31) + text.charCodeAt(place)) | 0;
    this.trace = (Math.imul(hash, 31) + Math.floor(this.now * 1_000)) | 0;
    this.lines?.push(`${(this.now / 1_000).toFixed(6)} ${text}`);
  }

  #batchName(id: string): string {
    const name = this.#batches.get(id) ?? `batch ${this.#batches.size + 1}`;
    this.#batches.set(id, name);
    return name;
  }

  /** Schedules an event, in the present process unless another one is named; `null` means no process. */
  later(
    delayMs: number,
    work: () => void,
    options: { readonly owner?: SimulatedProcess | undefined | null; readonly kind?: Event['kind'] } = {},
  ): Event {
    const { owner = this.#current, kind = 'timer' } = options;
    const event: Event = {
      // Sums of such times are exact, whatever else is added to them.
      at: Math.round((this.now + Math.max(0, delayMs)) * 1_024) / 1_024,
      owner: owner ?? undefined,
      kind,
      work,
      cancelled: false,
    };
    this.#push(event);
    return event;
  }

  /** Starts a process. */
  begin(name: string, work: () => void): SimulatedProcess {
    const process = new SimulatedProcess(name);
    this.tell(`${name} begins`);
    this.later(0, work, { owner: process });
    return process;
  }

  kill(process: SimulatedProcess): void {
    if (process.isDead) return;
    process.isDead = true;
    process.diedAt = this.now;
    process.held.length = 0;
    this.tell(`${process.name} is killed`);
  }

  freeze(process: SimulatedProcess, forMs: number): void {
    if (process.isDead || process.isFrozen) return;
    process.isFrozen = true;
    this.tell(`${process.name} is frozen for ${Math.round(forMs)} ms`);
    const first = this.random.pick(['timer', 'reply'] as const);
    this.later(forMs, () => this.#thaw(process, first), { owner: null });
  }

  /**
   * Lets everything happen until `isOver`.
   *
   * @returns why it ended
   */
  async play(isOver: () => boolean, limitMs: number): Promise<'over' | 'still' | 'too long'> {
    while (!isOver()) {
      const event = this.#events.pop();
      if (event === undefined) return 'still';
      if (event.cancelled || event.owner?.isDead) continue;
      if (event.at > limitMs) return 'too long';
      this.now = Math.max(this.now, event.at);
      if (event.owner?.isFrozen) {
        event.owner.held.push(event);
        continue;
      }
      this.count += 1;
      this.#current = event.owner;
      event.work();
      await settled();
      this.#current = undefined;
    }
    return 'over';
  }

  #thaw(process: SimulatedProcess, first: Event['kind']): void {
    if (process.isDead) return;
    process.isFrozen = false;
    this.tell(`${process.name} goes on`);
    const held = process.held.splice(0);
    for (const kind of [first, first === 'timer' ? 'reply' : 'timer'])
      for (const event of held) {
        if (event.kind !== kind) continue;
        const again = this.later(0, () => event.cancelled || event.work(), { owner: process, kind });
        again.cancelled = event.cancelled;
      }
  }

  #push(event: Event): void {
    let [first, end] = [0, this.#events.length];
    while (first < end) {
      const middle = (first + end) >> 1;
      if ((this.#events[middle] as Event).at > event.at) first = middle + 1;
      else end = middle;
    }
    this.#events.splice(first, 0, event);
  }
}

const macrotask = globalThis.setImmediate;

/** Resolves when everything that an event led to without waiting has happened. */
function settled(): Promise<void> {
  return new Promise((resolve) => macrotask(resolve));
}

// @ts-check

/** @typedef {import('./world.ts').Parts} Parts */
/** @typedef {import('./world.ts').ClientPace} ClientPace */

/**
 * Rows that wait for their turn in a worker, and its calls in flight.
 *
 * @typedef {object} Worker
 * @property {number} waiting
 * @property {number} active
 * @property {number} busiest the most calls in flight since the last beat
 * @property {number} inHand rows that it may claim
 * @property {number} nextAt
 * @property {number} timerAt
 * @property {number} elsewhere calls in flight of the others, as of the last exchange
 * @property {ReturnType<Parts['createUnavailableCalls']>} unavailable
 */

/** How much later the datastore opens a window of the rate than it could, milliseconds: from, and by how much more. */
const windowLate = [0.5, 2.5];
/** Every so many timers one is late by a few milliseconds, because something else is being done. */
const hiccupEvery = 40;
const hiccupMs = 8;
/** As of the gate (src/worker/call-gate.ts). */
const patienceMs = 150;

/**
 * The workers as they are: the datastore lets rows out a window of the rate at a time, each worker spreads its own and
 * has no more calls in flight than are its part.
 */
export class SimulatedClient {
  #parts;
  #random;
  #perRowMs;
  /** Rows that were taken of the present window, when the next one can begin, and when the datastore is free again. */
  #taken = 0;
  #opensAt;
  #freeAt;
  /** @type {Worker[]} */
  #workers;
  #rowsInHand;

  /**
   * @param {Parts} parts
   * @param {{ workers: number, capacity: number }} size
   * @param {number} begin
   * @param {() => number} random
   */
  constructor(parts, { workers, capacity }, begin, random) {
    this.#parts = parts;
    this.#random = random;
    this.#perRowMs = 1_000 / capacity;
    this.#opensAt = begin;
    this.#freeAt = begin;
    this.#workers = Array.from({ length: workers }, () => ({
      waiting: 0,
      active: 0,
      busiest: 0,
      inHand: 0,
      nextAt: begin,
      timerAt: begin,
      elsewhere: 0,
      unavailable: parts.createUnavailableCalls(),
    }));
    this.#rowsInHand = this.#workers.map(() => parts.createRowsInHand());
  }

  /** Calls in flight. */
  get active() {
    return this.#workers.reduce((total, { active }) => total + active, 0);
  }

  /** Each worker learns how many calls the others have in flight, and how many rows it may claim. */
  exchange(/** @type {ClientPace} */ { concurrency, gatesKeep, tolerates503 }) {
    const { active } = this;
    for (const [place, worker] of this.#workers.entries()) {
      const most = this.#parts.withSpare(this.#parts.shareOf(concurrency, this.#workers.length, place));
      const needed = this.#rowsInHand[place]?.update(worker.busiest, most) ?? most;
      worker.inHand = gatesKeep ? needed : most;
      worker.busiest = worker.active;
      worker.elsewhere = active - worker.active;
      worker.unavailable.tolerated = tolerates503;
    }
  }

  /**
   * A call of a worker is over.
   *
   * @param {number} worker
   * @param {import('./simulated-api.js').Call['status']} status
   * @param {number | undefined} waitMs
   * @returns whether it counts as refused
   */
  ended(worker, status, waitMs) {
    const own = /** @type {Worker} */ (this.#workers[worker]);
    own.active -= 1;
    own.timerAt = Math.min(own.timerAt, own.nextAt);
    return own.unavailable.counts({ status, waitMs }) || status === 429;
  }

  /** A call of a worker was refused: none goes out before that time. */
  refused(/** @type {number} */ worker, /** @type {number} */ until) {
    const own = /** @type {Worker} */ (this.#workers[worker]);
    own.nextAt = Math.max(own.nextAt, until);
    own.timerAt = own.nextAt;
  }

  /**
   * @param {number} now
   * @param {ClientPace} pace
   * @returns {{ calls: { worker: number, among: number }[], next: number }} the calls that go out now, and when to ask
   *   again unless one ends before
   */
  step(now, { rate, asked, concurrency, gatesKeep, turnAt, restUntil = 0 }) {
    const shares = this.#workers.map((_, place) =>
      this.#parts.shareOf(concurrency, this.#workers.length, place),
    );
    const opened = this.#take(now, asked, restUntil);
    const spacing = this.#parts.spacingOf(rate, { workers: this.#workers.length, gatesKeep });
    /** @type {{ worker: number, among: number }[]} */
    const calls = [];
    let next = opened;
    for (const [place, worker] of this.#workers.entries()) {
      const share = shares[place] ?? 1;
      if (restUntil - now > patienceMs) worker.waiting = 0;
      if (spacing > 0) worker.nextAt = Math.min(worker.nextAt, Math.max(now + spacing, restUntil));
      while (worker.waiting > 0 && worker.active < share && Math.max(worker.timerAt, restUntil) <= now) {
        const at = Math.max(worker.nextAt, restUntil);
        if (at > now) {
          worker.timerAt = this.#timer(at);
          break;
        }
        worker.nextAt = this.#parts.nextCallAt(worker.nextAt, now, {
          spacingMs: spacing,
          turnAt: turnAt === undefined ? undefined : this.#parts.turnOf(place, turnAt, rate),
        });
        worker.waiting -= 1;
        worker.active += 1;
        worker.busiest = Math.max(worker.busiest, worker.active);
        calls.push({ worker: place, among: worker.active + worker.elsewhere });
      }
      if (worker.waiting > 0 && worker.active < share)
        next = Math.min(next, Math.max(worker.timerAt, restUntil));
    }
    return { calls, next };
  }

  /** Workers take rows as the datastore lets them. @returns when to try again */
  #take(/** @type {number} */ now, /** @type {number} */ rate, /** @type {number} */ restUntil) {
    if (restUntil > now) return restUntil;
    const window = this.#parts.callRate(rate);
    for (;;) {
      const free = this.#workers.filter(({ waiting, active, inHand }) => waiting + active < inHand);
      const worker = free[Math.floor(this.#random() * free.length)];
      if (worker === undefined) return Number.POSITIVE_INFINITY;
      if (now < this.#opensAt && this.#taken >= window.calls) return Math.ceil(this.#opensAt);
      if (now < this.#freeAt) return Math.ceil(this.#freeAt);
      if (now >= this.#opensAt) {
        const [least = 0, more = 0] = windowLate;
        this.#opensAt = Math.max(this.#opensAt, now - 1) + window.perMs + least + more * this.#random();
        this.#taken = 0;
      }
      this.#taken += 1;
      this.#freeAt = Math.max(this.#freeAt, now - 1) + this.#perRowMs;
      worker.waiting += 1;
    }
  }

  #timer(/** @type {number} */ at) {
    const hiccup = this.#random() * hiccupEvery < 1 ? hiccupMs * this.#random() : 0;
    return Math.ceil(at) + Math.round(this.#random() + hiccup);
  }
}

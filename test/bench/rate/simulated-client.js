// @ts-check
import { newTimeline, setRate, takeSlots } from '../../../dist/src/engine/cluster/timeline.js';
import { CallScheduler } from '../../../dist/src/engine/rate/call-scheduler.js';
import { isRefusal } from '../../../dist/src/engine/rate/traffic-meter.js';
import { Prefetch, withSpare } from '../../../dist/src/engine/worker/prefetch.js';
import { SimulatedNetwork } from './simulated-network.js';

/** @typedef {import('./world.ts').World} World */

/**
 * A worker: its scheduler, the rows that wait for it, and what it knows of the others.
 *
 * @typedef {object} Worker
 * @property {string} id
 * @property {CallScheduler} scheduler
 * @property {number} clock how far its clock is ahead
 * @property {number} waiting rows that have no turn yet
 * @property {{ since: number, at: number }[]} writing rows whose intents are being written, and when that is done
 * @property {number} ready
 * @property {{ at: number, leaveBy: number, among: number }[]} leaving calls that were admitted, and when they leave
 * @property {number} busiest the most rows that had a turn or were called since the last beat
 * @property {number} inHand rows that it may claim
 * @property {number} most calls in flight that the user wants
 * @property {number} timerAt
 * @property {Prefetch} prefetch
 * @property {boolean} refuses503 whether it knows each 503 to be a refusal
 */

/** How far the clock of the timeline is ahead. */
const serverClock = 7_654_321;
/** How far the clocks of workers are off, at most. */
const clocksOff = 2_000;
/** One timer in this many is late by a few milliseconds, because something else is being done. */
const hiccupEvery = 40;
const hiccupMs = 8;
/** The intent of one row in this many takes that much longer: the datastore has something else to do. */
const slowWriteEvery = 100;
const slowWriteMs = 30;
/** As in the gate (src/engine/rate/call-gate.ts). */
const patienceMs = 150;
/** @type {readonly never[]} */
const noCalls = [];

/** The workers as they are: each has its scheduler of calls, and asks the timeline for slots with messages. */
export class SimulatedClient {
  #random;
  #perRowMs;
  #freeAt;
  #timeline;
  #network;
  #world;
  #begin;
  #forgotten = 0;
  /** @type {Worker[]} */
  #workers;

  /**
   * @param {World} world
   * @param {number} begin
   * @param {() => number} random
   */
  constructor(world, begin, random) {
    const { workers = 1, capacity = 2_000, slowWorkers = [] } = world;
    this.#random = random;
    this.#perRowMs = 1_000 / capacity;
    this.#freeAt = begin;
    this.#begin = begin;
    this.#world = world;
    this.#timeline = newTimeline();
    this.#network = new SimulatedNetwork(workers === 1 ? undefined : (world.network ?? {}), begin, random);
    this.#workers = Array.from({ length: workers }, (_, index) => ({
      id: `worker-${index}`,
      scheduler: new CallScheduler({ concurrency: slowWorkers[index], random }),
      clock: workers === 1 ? 0 : Math.round(clocksOff * (2 * random() - 1)),
      waiting: 0,
      writing: [],
      ready: 0,
      leaving: [],
      busiest: 0,
      inHand: 0,
      most: slowWorkers[index] ?? Number.POSITIVE_INFINITY,
      timerAt: begin,
      prefetch: new Prefetch(),
      refuses503: false,
    }));
  }

  /**
   * Sets the rate as a leader.
   *
   * @param {number} now
   * @param {string} leader
   * @param {import('./world.ts').ClientPace} pace
   */
  setRate(now, leader, { rate, isKept, concurrency, restUntil = 0 }) {
    return setRate(this.#timeline, now + serverClock, {
      worker: leader,
      rate: isKept ? rate : undefined,
      cap: concurrency,
      restMs: Math.max(0, restUntil - now),
    });
  }

  /** Each worker learns of a rest, how many rows it may claim, and whether 503s are refusals. */
  exchange(/** @type {import('./world.ts').ClientPace} */ { restUntil = 0, refuses503 }) {
    for (const worker of this.#workers) {
      const own = busy(worker);
      worker.scheduler.setCommonRest(restUntil + worker.clock);
      const most = withSpare(Math.min(worker.scheduler.seats, worker.most));
      worker.inHand = worker.prefetch.update(worker.busiest, most);
      worker.busiest = own;
      worker.refuses503 = refuses503;
    }
  }

  /**
   * A call of a worker is over.
   *
   * @param {import('./simulated-api.js').Call & { worker: number }} call
   * @param {number | undefined} waitMs
   * @param {number} now
   * @returns as what it counts
   */
  ended({ worker: index, sentAt, status }, waitMs, now) {
    const worker = /** @type {Worker} */ (this.#workers[index]);
    worker.scheduler.noteEnd(now - sentAt);
    worker.timerAt = now;
    if (status === 200) return 'accepted';
    /** @type {'slow-down' | 'retry'} */
    const kind = status === 429 || waitMs !== undefined ? 'slow-down' : 'retry';
    const failure = { class: kind, status, ...(waitMs !== undefined && { waitMs }) };
    return isRefusal(failure, worker.refuses503) ? 'rejected' : 'unavailable';
  }

  /** A call of a worker was refused, and the API asks to wait until then. */
  refused(/** @type {number} */ index, /** @type {number} */ waitUntil, /** @type {number} */ now) {
    const worker = /** @type {Worker} */ (this.#workers[index]);
    worker.scheduler.noteRefusal(now + worker.clock, waitUntil + worker.clock);
  }

  /**
   * @param {number} now
   * @param {number} idleUntil before which there is nothing to call
   * @returns {{ calls: { worker: number, among: number }[], next: number }} the calls that leave now, and when to ask again
   *   unless one ends earlier
   */
  step(now, idleUntil) {
    this.#forget(now);
    this.#deliver(now);
    const next = idleUntil > now ? idleUntil : this.#claim(now);
    /** @type {{ worker: number, among: number }[]} */
    const calls = [];
    for (let index = 0; index < this.#workers.length; index++) {
      const worker = /** @type {Worker} */ (this.#workers[index]);
      const frozenUntil = this.#frozenUntil(index, now);
      if (frozenUntil > now) worker.timerAt = frozenUntil;
      else this.#written(worker, now);
      calls.push(...this.#leave(index, worker, now));
      if (worker.scheduler.restUntil - now - worker.clock > patienceMs) {
        worker.scheduler.releaseTurns(worker.writing.length + worker.ready);
        worker.writing = [];
        worker.waiting = worker.ready = 0;
      }
      if (worker.timerAt <= now) {
        const { reserved, admitted, visit, wakeAt } = worker.scheduler.step(now + worker.clock, worker);
        worker.waiting -= reserved;
        worker.ready -= admitted.length;
        for (let row = 0; row < reserved; row++)
          worker.writing.push({ since: now, at: now + this.#writeMs() });
        worker.busiest = Math.max(worker.busiest, busy(worker));
        for (const [call, leaveBy] of admitted.entries())
          worker.leaving.push({
            at: Math.max(now + this.#suspension(), worker.leaving.at(-1)?.at ?? now),
            leaveBy,
            among: worker.scheduler.active - admitted.length + call + 1 + worker.scheduler.elsewhere,
          });
        if (visit) this.#network.send(now, { index, sentAt: now, visit });
        worker.timerAt = this.#timer(wakeAt - worker.clock);
      }
      calls.push(...this.#leave(index, worker, now));
    }
    this.#deliver(now);
    return { calls, next: Math.min(next, this.#network.nextAt, this.#nextTimer(now)) };
  }

  /** Calls that leave now. */
  #leave(/** @type {number} */ index, /** @type {Worker} */ worker, /** @type {number} */ now) {
    if (!worker.leaving.some(({ at }) => at <= now)) return noCalls;
    const gone = worker.leaving.filter(({ at }) => at <= now);
    worker.leaving = worker.leaving.filter(({ at }) => at > now);
    for (const { leaveBy } of gone) worker.scheduler.noteSent(now + worker.clock, leaveBy);
    return gone.map(({ among }) => ({ worker: index, among }));
  }

  /** How long a process is suspended that has just admitted a call. */
  #suspension() {
    const { suspended } = this.#world;
    if (suspended === undefined || this.#random() * suspended.everyCalls >= 1) return 0;
    return Math.ceil(this.#random() * suspended.forMs);
  }

  #forget(/** @type {number} */ now) {
    const { forgets } = this.#world;
    if (forgets === undefined) return;
    const times = forgets.filter((second) => this.#begin + second * 1_000 <= now).length;
    if (times > this.#forgotten) this.#timeline = newTimeline();
    this.#forgotten = times;
  }

  /** When a worker has something to do. */
  #nextTimer(/** @type {number} */ now) {
    let next = Number.POSITIVE_INFINITY;
    for (let index = 0; index < this.#workers.length; index++) {
      const { timerAt, writing, leaving } = /** @type {Worker} */ (this.#workers[index]);
      next = Math.min(next, timerAt, leaving[0]?.at ?? timerAt);
      if (this.#frozenUntil(index, now) <= now) for (const { at } of writing) next = Math.min(next, at);
    }
    return next;
  }

  /** Rows whose intents are written by now wait for the moment of their call. */
  #written(/** @type {Worker} */ worker, /** @type {number} */ now) {
    if (!worker.writing.some(({ at }) => at <= now)) return;
    const done = worker.writing.filter(({ at }) => at <= now);
    worker.writing = worker.writing.filter(({ at }) => at > now);
    worker.ready += done.length;
    worker.timerAt = now;
    for (const { since } of done) worker.scheduler.noteWrittenIntent(now + worker.clock, now - since);
  }

  /** How long it takes to write the intent of a row. */
  #writeMs() {
    const { writeMs = 1 } = this.#world;
    const slow = this.#random() * slowWriteEvery < 1 ? slowWriteMs * this.#random() : 0;
    return Math.round(writeMs * (0.5 + this.#random()) + slow);
  }

  /** Messages that have arrived. */
  #deliver(/** @type {number} */ now) {
    for (let message = this.#network.next(now); message !== undefined; message = this.#network.next(now)) {
      const worker = /** @type {Worker} */ (this.#workers[message.index]);
      if ('visit' in message) {
        const request = { worker: worker.id, ...message.visit };
        const reply = takeSlots(this.#timeline, now + serverClock, request);
        this.#network.send(now, { index: message.index, sentAt: message.sentAt, reply });
        continue;
      }
      const heardAt = this.#frozenUntil(message.index, now);
      if (heardAt > now) {
        this.#network.hold(heardAt, message);
        continue;
      }
      worker.scheduler.takeReply(message.sentAt + worker.clock, now + worker.clock, message.reply);
      worker.timerAt = now;
    }
  }

  /** Workers claim rows as the datastore allows. @returns when to try again */
  #claim(/** @type {number} */ now) {
    for (;;) {
      const free = this.#workers.filter(
        ({ waiting, scheduler, inHand }, index) =>
          waiting + scheduler.reserved + scheduler.active < inHand && this.#frozenUntil(index, now) <= now,
      );
      const worker = free[Math.floor(this.#random() * free.length)];
      if (worker === undefined) return Number.POSITIVE_INFINITY;
      if (now < this.#freeAt) return Math.ceil(this.#freeAt);
      this.#freeAt = Math.max(this.#freeAt, now - 1) + this.#perRowMs;
      worker.waiting += 1;
      // The first waiting row is handled at once, like each row that may be called at once.
      worker.timerAt = Math.min(worker.timerAt, now);
    }
  }

  /** Until when a worker does nothing at all. */
  #frozenUntil(/** @type {number} */ index, /** @type {number} */ now) {
    const { frozen } = this.#world;
    const leavesAt = this.#workers[index]?.leaving[0]?.at ?? now;
    if (leavesAt > now) return leavesAt;
    if (frozen === undefined) return now;
    const second = (now - this.#begin) / 1_000;
    const span = frozen.find(([which, from, to]) => which === index && second >= from && second < to);
    return span === undefined ? now : this.#begin + span[2] * 1_000;
  }

  #timer(/** @type {number} */ at) {
    if (!Number.isFinite(at)) return at;
    const hiccup = this.#random() * hiccupEvery < 1 ? hiccupMs * this.#random() : 0;
    return Math.ceil(at) + Math.round(this.#random() + hiccup);
  }
}

/** Rows that have a turn or are being called. */
function busy(/** @type {Worker} */ { scheduler }) {
  return scheduler.active + scheduler.reserved;
}

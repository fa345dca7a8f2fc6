/**
 * The timeline of an API: which slots are taken, and how many calls each worker may have in flight. A slot is a moment at which
 * one call may leave. The leading worker sets the rate; all workers take their slots from the timeline.
 *
 * These functions are pure: state and time in, reply out. The embedded datastore uses them as they are; the script in
 * `timeline-script.ts` does the same inside Redis, operation by operation, so that both give the same numbers. All times are
 * milliseconds by the clock of the process that keeps the state.
 */

/** The worker that last set the rate keeps the lead for this long; commands of other workers are refused until then. */
export const leadMs = 2_000;
/** A rate that was not renewed for this long is void: nothing may be called. */
export const rateTtlMs = 2_000;
/** A worker that was silent for this long frees its places, and takes no part in decisions. */
export const silentMs = 2_000;
/** No slot is farther ahead: one that is was left by a clock that was set back. */
export const farthestMs = 1_000;
/** How old shares may be, per worker: working them out takes longer with more workers. */
export const sharesPerWorkerMs = 0.2;

/** The places of a worker, out of the calls in flight. */
export interface WorkerPlaces {
  readonly at: number;
  /** Calls that it has in flight or could make at once. */
  readonly need: number;
  readonly active: number;
  readonly granted: number;
}

/** How the calls in flight are divided among workers that want more of them than there are. */
interface Shares {
  readonly at: number;
  /** Each worker gets this many, if it needs them. */
  readonly level: number;
  /** Workers from this id on, in a circle, up to the other one, get one more; absent: no worker. */
  readonly more?: readonly [from: string, until: string];
}

export interface TimelineState {
  /** The first free slot. */
  next?: number | undefined;
  /** The time between two slots; absent: the rate is not kept. */
  gap?: number | undefined;
  /** When the rate expires. */
  until: number;
  /** No call may be made before this time. */
  restUntil: number;
  /** Calls in flight of all workers. */
  cap: number;
  leader?: string | undefined;
  leadUntil: number;
  readonly workers: Map<string, WorkerPlaces>;
  shares?: Shares;
}

export function newTimeline(): TimelineState {
  return { until: 0, restUntil: 0, cap: 0, leadUntil: 0, workers: new Map() };
}

/** Takes or renews the lead. @returns whether the worker has it */
export function lead(state: TimelineState, now: number, worker: string): boolean {
  // A lead far in the future was left by a clock that was set back.
  const isFree = state.leader === undefined || state.leadUntil <= now || state.leadUntil > now + leadMs;
  if (!isFree && state.leader !== worker) return false;
  state.leader = worker;
  state.leadUntil = now + leadMs;
  return true;
}

export interface RateCommand {
  readonly worker: string;
  /** Calls per second; absent: the rate is not kept. */
  readonly rate?: number | undefined;
  /** Calls in flight, of all workers. */
  readonly cap: number;
  /** How long no call may be made. */
  readonly restMs: number;
}

/** Sets the rate from now on. @returns false, and does nothing, when another worker has the lead */
export function setRate(
  state: TimelineState,
  now: number,
  { worker, rate, cap, restMs }: RateCommand,
): boolean {
  if (!lead(state, now, worker)) return false;
  const gap = rate === undefined ? undefined : 1_000 / rate;
  // Taken slots count at the new rate, too.
  if (gap !== undefined && state.gap !== undefined && state.next !== undefined && state.next > now)
    state.next = now + ((state.next - now) * gap) / state.gap;
  if (gap === undefined) state.next = undefined;
  state.gap = gap;
  state.until = now + rateTtlMs;
  state.restUntil = now + restMs;
  state.cap = cap;
  return true;
}

export interface SlotRequest {
  readonly worker: string;
  /** Slots that it could use within `aheadMs`. */
  readonly want: number;
  /** Slots that it has. */
  readonly held: number;
  /** Calls in flight, and calls in flight or possible at once. */
  readonly need: number;
  readonly active: number;
  /** How far ahead slots are taken, and how soon the worker can use one. */
  readonly aheadMs: number;
  readonly leadInMs: number;
}

export interface SlotReply {
  /** When the reply was made. */
  readonly now: number;
  /** The slots that belong to the worker from now on: `count` of them, the first at `from`, `gap` apart. */
  readonly count: number;
  readonly from: number;
  /** Absent: the rate is not kept. */
  readonly gap?: number;
  /** Whether a rate is in force, or none is wanted; otherwise nothing may be called. */
  readonly isSet: boolean;
  /** Calls that the worker may have in flight, and calls in flight of all others. */
  readonly places: number;
  readonly elsewhere: number;
  /**
   * Workers that want to call, this one included if it does; where the worker has places, at most as many as there are places.
   */
  readonly callers: number;
  readonly restMs: number;
}

/** Takes the next slots of a worker, and its share of the calls in flight. */
export function take(state: TimelineState, now: number, request: SlotRequest): SlotReply {
  const { worker, want, held, aheadMs } = request;
  const isSet = state.until > now && state.until <= now + rateTtlMs;
  const places = takePlaces(state, now, request);
  const elsewhere = sum(state, worker, 'active');
  const restMs = Math.max(0, state.restUntil - now);
  const callers = [...state.workers.values()].filter(({ need }) => need > 0).length;
  const { gap } = state;
  const none = {
    now,
    count: 0,
    from: 0,
    isSet,
    places,
    elsewhere,
    callers: places > 0 ? Math.min(callers, state.cap) : callers,
    restMs,
    ...(gap !== undefined && { gap }),
  };
  if (!isSet || gap === undefined || restMs > 0) return none;
  // After a loss of data it is unknown what was taken.
  const free = Math.min(state.next ?? now + aheadMs, now + farthestMs + gap);
  const from = Math.max(now + request.leadInMs, free);
  const room = (aheadOf: number): number => Math.floor((now + aheadOf - from) / gap) + 1;
  const others = request.need > 0 ? callers - 1 : callers;
  const part = Math.max(1, Math.ceil(aheadMs / gap / (others + 1)));
  // Beyond its share a worker takes what would soon be lost.
  const count = Math.min(want, Math.max(Math.min(part - held, room(aheadMs)), room(aheadMs / 2)));
  if (count < 1) {
    state.next = free;
    return none;
  }
  state.next = from + count * gap;
  return { ...none, count, from };
}

/**
 * Calls in flight are shared by need: no worker gets more than it needs while another one lacks places, and the rest is divided
 * among all. Places that others hold are given away only after they are released.
 */
function takePlaces(state: TimelineState, now: number, { worker, need, active }: SlotRequest): number {
  const { workers, shares } = state;
  const isDue =
    shares === undefined || now < shares.at || now >= shares.at + workers.size * sharesPerWorkerMs;
  if (isDue) {
    for (const [id, { at }] of workers) if (at < now - silentMs || at > now + silentMs) workers.delete(id);
  }
  const before = workers.get(worker);
  workers.set(worker, { at: now, need, active, granted: before?.granted ?? 0 });
  if (isDue) state.shares = workOutShares(state, now);
  const places = Math.max(0, Math.min(shareOf(state, worker), state.cap - sum(state, worker, 'granted')));
  workers.set(worker, { at: now, need, active, granted: Math.max(places, active) });
  return places;
}

/** A worker's share of the calls in flight. */
function shareOf({ workers, cap, shares }: TimelineState, worker: string): number {
  const need = workers.get(worker)?.need ?? 0;
  if (need === 0 || shares === undefined) return 0;
  const needs = [...workers.values()].map((each) => each.need).filter((each) => each > 0);
  const left = cap - needs.reduce((total, each) => total + each, 0);
  if (left >= 0) return need + Math.floor(left / needs.length);
  return Math.min(need, shares.level + (hasMore(shares, worker) ? 1 : 0));
}

function hasMore({ more }: Shares, worker: string): boolean {
  if (more === undefined) return false;
  const [from, until] = more;
  return from <= until ? worker >= from && worker <= until : worker >= from || worker <= until;
}

function workOutShares({ workers, cap }: TimelineState, now: number): Shares {
  const ids = [...workers.keys()].filter((id) => needOf(id) > 0).sort();
  let level = Math.floor(cap / Math.max(1, ids.length));
  let left = cap;
  for (const [index, need] of ids
    .map(needOf)
    .sort((a, b) => a - b)
    .entries()) {
    level = Math.floor(left / (ids.length - index));
    if (need > level) {
      left -= level * (ids.length - index);
      break;
    }
    left -= need;
  }
  // The remainder goes by rank, so that it does not move with each visit. Where there are more workers than places, they take
  // turns by the second.
  const turn = ids.length > cap ? Math.floor(now / 1_000) : 0;
  const first = ids.length - (turn % Math.max(1, ids.length));
  const byRank = [...ids.slice(first), ...ids.slice(0, first)];
  const until = byRank.filter((id) => needOf(id) > level)[left - 1];
  const [from] = byRank;
  return { at: now, level, ...(from !== undefined && until !== undefined && { more: [from, until] }) };

  function needOf(id: string): number {
    return workers.get(id)?.need ?? 0;
  }
}

/** Of all other workers. */
function sum(state: TimelineState, worker: string, what: 'active' | 'granted'): number {
  return [...state.workers].reduce((total, [id, each]) => total + (id === worker ? 0 : each[what]), 0);
}

/**
 * The timeline of an API: which slots are taken, and how many calls each worker may have in flight. A slot is a moment at which one call
 * may leave. The leader sets the rate; all workers take slots.
 *
 * Pure functions, for the embedded datastore; `timeline-script.ts` repeats them inside Redis, operation by operation. All times are
 * milliseconds of the clock of the process that holds the state.
 */

/** After a leader's last rate, commands of other workers are refused for this long. */
export const leadMs = 2_000;
/** Without a new rate, nothing may be called after this time. */
export const rateTtlMs = 2_000;
/** After this silence, a worker's places are free, and it takes no part in decisions. */
export const silentMs = 2_000;
/** A slot farther ahead was taken before the clock was set back. */
export const farthestMs = 1_000;
/** A longer rest loses slots taken before it. After a shorter rest they count as used, which delays calls after a lowered rate. */
export const losingRestMs = 500;
/** For each worker, because more workers take longer to compute. */
export const sharesPerWorkerMs = 0.2;

export interface WorkerPlaces {
  readonly at: number;
  /** Calls in flight plus calls that could be made at once; calls in flight; granted places. */
  readonly need: number;
  readonly active: number;
  readonly granted: number;
}

interface Shares {
  readonly at: number;
  /** The places of each worker that needs as many. */
  readonly level: number;
  /** The first and last id that get one place more, in a circle. */
  readonly more?: readonly [from: string, until: string];
}

export interface TimelineState {
  next?: number | undefined;
  /** Between slots; absent: no rate applies. */
  gap?: number | undefined;
  until: number;
  restUntil: number;
  cap: number;
  leader?: string | undefined;
  leadUntil: number;
  readonly workers: Map<string, WorkerPlaces>;
  shares?: Shares;
}

export function newTimeline(): TimelineState {
  return { until: 0, restUntil: 0, cap: 0, leadUntil: 0, workers: new Map() };
}

/** @returns whether the worker has the lead */
export function lead(state: TimelineState, now: number, worker: string): boolean {
  // A clock that was set back left a lead in the far future.
  const isFree = state.leader === undefined || state.leadUntil <= now || state.leadUntil > now + leadMs;
  if (!isFree && state.leader !== worker) return false;
  state.leader = worker;
  state.leadUntil = now + leadMs;
  return true;
}

export interface RateCommand {
  readonly worker: string;
  /** Calls/s; absent: no rate applies. */
  readonly rate?: number | undefined;
  readonly cap: number;
  readonly restMs: number;
}

/** @returns false, without effect, when another worker has the lead */
export function setRate(
  state: TimelineState,
  now: number,
  { worker, rate, cap, restMs }: RateCommand,
): boolean {
  if (!lead(state, now, worker)) return false;
  const gap = rate === undefined ? undefined : 1_000 / rate;
  // Taken slots are respaced to the new rate, unless a long rest loses all of them.
  if (restMs >= losingRestMs) state.next = now + restMs;
  else if (gap !== undefined && state.gap !== undefined && state.next !== undefined && state.next > now)
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
  /** Slots that the worker could use within `aheadMs`. */
  readonly want: number;
  readonly held: number;
  /** See `WorkerPlaces`. */
  readonly need: number;
  readonly active: number;
  /** How far ahead slots are taken, and how soon the first can be used. */
  readonly aheadMs: number;
  readonly leadInMs: number;
}

export interface SlotReply {
  readonly now: number;
  /** New slots: `count`, the first at `from`, `gap` apart. */
  readonly count: number;
  readonly from: number;
  readonly gap?: number | undefined;
  /** A rate is in force, or none is requested; otherwise nothing may be called. */
  readonly isSet: boolean;
  /** Calls that the worker may have in flight, and those of all others. */
  readonly places: number;
  readonly elsewhere: number;
  /** Workers that want to call, with this worker; at most the number of places if it has one. */
  readonly callers: number;
  readonly restMs: number;
}

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
    gap,
  };
  if (!isSet || gap === undefined || restMs > 0) return none;
  // Without `next`, as after a loss of data, skip slots that workers may still use.
  const free = Math.min(state.next ?? now + aheadMs, now + farthestMs + gap);
  const from = Math.max(now + request.leadInMs, free);
  const room = (aheadOf: number): number => Math.floor((now + aheadOf - from) / gap) + 1;
  const otherCallers = request.need > 0 ? callers - 1 : callers;
  const part = Math.max(1, Math.ceil(aheadMs / gap / (otherCallers + 1)));
  // Beyond its share, a worker takes only slots of the nearer half, which would soon be lost to all.
  const count = Math.min(want, Math.max(Math.min(part - held, room(aheadMs)), room(aheadMs / 2)));
  if (count < 1) {
    state.next = free;
    return none;
  }
  state.next = from + count * gap;
  return { ...none, count, from };
}

/** No worker gets more than it needs while another lacks places. Places in use are given away only once released. */
function takePlaces(state: TimelineState, now: number, { worker, need, active }: SlotRequest): number {
  const { workers, shares } = state;
  const isDue =
    shares === undefined || now < shares.at || now >= shares.at + workers.size * sharesPerWorkerMs;
  if (isDue) {
    for (const [id, { at }] of workers) if (at < now - silentMs || at > now + silentMs) workers.delete(id);
  }
  const earlier = workers.get(worker);
  workers.set(worker, { at: now, need, active, granted: earlier?.granted ?? 0 });
  if (isDue) state.shares = workOutShares(state, now);
  const places = Math.max(0, Math.min(shareOf(state, worker), state.cap - sum(state, worker, 'granted')));
  workers.set(worker, { at: now, need, active, granted: Math.max(places, active) });
  return places;
}

function shareOf({ workers, cap, shares }: TimelineState, worker: string): number {
  const need = workers.get(worker)?.need ?? 0;
  if (need === 0 || shares === undefined) return 0;
  const needs = [...workers.values()].map((each) => each.need).filter((each) => each > 0);
  const spare = cap - needs.reduce((total, each) => total + each, 0);
  if (spare >= 0) return need + Math.floor(spare / needs.length);
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
  let remaining = cap;
  for (const [index, need] of ids
    .map(needOf)
    .sort((a, b) => a - b)
    .entries()) {
    level = Math.floor(remaining / (ids.length - index));
    if (need > level) {
      remaining -= level * (ids.length - index);
      break;
    }
    remaining -= need;
  }
  // By rank, so that the remainder stays with the same workers. With more workers than places, workers take turns by the second.
  const turn = ids.length > cap ? Math.floor(now / 1_000) : 0;
  const first = ids.length - (turn % Math.max(1, ids.length));
  const byRank = [...ids.slice(first), ...ids.slice(0, first)];
  const until = byRank.filter((id) => needOf(id) > level)[remaining - 1];
  const [from] = byRank;
  return { at: now, level, ...(from !== undefined && until !== undefined && { more: [from, until] }) };

  function needOf(id: string): number {
    return workers.get(id)?.need ?? 0;
  }
}

function sum(state: TimelineState, worker: string, what: 'active' | 'granted'): number {
  return [...state.workers].reduce((total, [id, each]) => total + (id === worker ? 0 : each[what]), 0);
}

/**
 * The timeline of an API, by GCRA (generic cell rate algorithm): `next` is the moment from which slots are free; taking a slot moves it by
 * `gap`. A slot is a moment at which one call may leave. The leader sets the rate; all workers take slots, and lease seats for their calls
 * in flight.
 *
 * Pure functions, for the embedded datastore and for simulations; `timeline-script.ts` repeats them inside Redis. All times are milliseconds
 * of the clock of the process that holds the state.
 */

/** After a leader's last rate, commands of other workers are refused for this long. */
export const leaseMs = 2_000;
/** Without a new rate, nothing may be called after this time. */
export const rateTtlMs = 2_000;
/** After this silence, a worker's seats are free, and it takes no part in decisions. */
export const silentAfterMs = 2_000;
/** A slot farther ahead was taken before the clock was set back. */
export const farthestSlotMs = 1_000;
/** A longer rest loses slots taken before it. After a shorter rest they count as used, which delays calls after a lowered rate. */
export const losingRestMs = 500;
/** Between two searches for silent workers, for each worker, because more of them take longer. */
export const lookPerWorkerMs = 0.2;
/** After a worker got fewer seats than its fair part, no worker keeps more than its own for this long. */
export const fairPartMs = 300;
/** With more workers than seats, each keeps its seat for this long. */
export const seatTurnMs = 1_000;
/**
 * A call leaves within a gap of its slot, or within this time, because timers are late. Where the gap is shorter, slots are farther apart, so
 * that no second has more than two calls above the rate.
 */
export const leastGraceMs = 5;

interface Lease {
  readonly at: number;
  /** The seats that the worker can use; its calls in flight; the seats that it has. */
  readonly need: number;
  readonly active: number;
  readonly seats: number;
  /** The time since which the worker has seats. */
  readonly since: number;
}

export interface TimelineState {
  next?: number | undefined;
  /** The time between two slots; absent: no rate applies. */
  gap?: number | undefined;
  until: number;
  restUntil: number;
  cap: number;
  leader?: string | undefined;
  leadUntil: number;
  shortUntil: number;
  lookedAt: number;
  readonly workers: Map<string, Lease>;
}

export function newTimeline(): TimelineState {
  return { until: 0, restUntil: 0, cap: 0, leadUntil: 0, shortUntil: 0, lookedAt: 0, workers: new Map() };
}

export interface RateCommand {
  readonly worker: string;
  /** The rate in calls per second; absent: no rate applies. */
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
  // A clock that was set back left a lead in the far future.
  const isLed = state.leader !== undefined && state.leadUntil > now && state.leadUntil <= now + leaseMs;
  if (isLed && state.leader !== worker) return false;
  const gap = rate && Math.max(1_000 / rate, (1_000 + leastGraceMs) / (rate + 1));
  // Taken slots are respaced to the new rate, unless a long rest loses all of them.
  if (restMs >= losingRestMs) state.next = now + restMs;
  else if (gap !== undefined && state.gap !== undefined && state.next !== undefined && state.next > now)
    state.next = now + ((state.next - now) * gap) / state.gap;
  if (gap === undefined) state.next = undefined;
  const [until, restUntil] = [now + rateTtlMs, now + restMs];
  Object.assign(state, { gap, until, restUntil, cap, leader: worker, leadUntil: now + leaseMs });
  return true;
}

export interface SlotRequest {
  readonly worker: string;
  /** The number of slots that the worker could use within `aheadMs`. */
  readonly want: number;
  /** What the worker wants of seats: see `Lease`. */
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
  /** Whether a rate is in force, or none is requested. Otherwise nothing may be called. */
  readonly isSet: boolean;
  /** The calls that the worker may have in flight, and those of all others. */
  readonly seats: number;
  readonly elsewhere: number;
  /** The workers that want to call, with this worker; at most the number of seats if it has one. */
  readonly callers: number;
  readonly restMs: number;
}

export function takeSlots(state: TimelineState, now: number, request: SlotRequest): SlotReply {
  const { gap, until } = state;
  const { want, aheadMs, leadInMs } = request;
  const earlier = state.workers.get(request.worker);
  const isSet = until > now && until <= now + rateTtlMs;
  const restMs = Math.max(0, state.restUntil - now);
  const leased = leasePlaces(state, now, request, earlier);
  const none = { now, count: 0, from: 0, gap, isSet, restMs, ...leased };
  if (!isSet || gap === undefined || restMs > 0) return none;
  // After Redis has lost `next`, workers may still use slots that they took ahead.
  const free = Math.min(state.next ?? now + aheadMs, now + farthestSlotMs + gap);
  const from = Math.max(now + leadInMs, free);
  const room = (ahead: number): number => Math.floor((now + ahead - from) / gap) + 1;
  // Beyond its fair part since its last visit, a worker takes only slots of the nearer half, which would soon be lost to all.
  const part = Math.max(1, Math.round((now - (earlier?.at ?? 0)) / gap / Math.max(1, leased.callers)));
  const most = Math.max(Math.min(part, room(aheadMs)), room((aheadMs + leadInMs) / 2));
  const count = Math.min(want, most);
  state.next = count > 0 ? from + count * gap : free;
  return count > 0 ? { ...none, count, from } : none;
}

/** Leases as many seats as are needed and free; after a worker got too few, at most a fair part. Seats in use are never given away. */
function leasePlaces(
  state: TimelineState,
  now: number,
  { worker, want, need, active }: SlotRequest,
  earlier?: Lease,
) {
  const { workers, cap, gap } = state;
  if (now < state.lookedAt || now >= state.lookedAt + workers.size * lookPerWorkerMs) {
    for (const [id, { at }] of workers) if (Math.abs(now - at) > silentAfterMs) workers.delete(id);
    state.lookedAt = now;
  }
  const since = earlier?.seats ? earlier.since : now;
  workers.delete(worker);
  const others = [...workers.values()];
  const sum = (of: (each: Lease) => number) => others.reduce((total, each) => total + of(each), 0);
  const wanting = sum((each) => Math.min(1, each.need)) + Math.min(1, need);
  const fair = Math.max(1, Math.floor(cap / Math.max(1, wanting)));
  // The turn of a worker that wants no new slot is not over: the worker still has a slot to use.
  const isOver = wanting > cap && Math.abs(now - since) >= seatTurnMs && (want > 0 || gap === undefined);
  const isShort = state.shortUntil > now && state.shortUntil <= now + fairPartMs;
  const most = isShort ? fair : cap;
  const free = cap - sum((each) => each.seats);
  const seats = isOver ? 0 : Math.max(0, Math.min(need, most, free));
  if (seats < Math.min(need, fair)) state.shortUntil = now + fairPartMs;
  workers.set(worker, { at: now, need, active, seats: Math.max(seats, active), since });
  const callers = seats > 0 ? Math.min(wanting, cap) : wanting;
  return { seats, elsewhere: sum((each) => each.active), callers };
}

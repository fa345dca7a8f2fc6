import type { Pace, StartingPoint } from '../../../src/domain/pace.ts';
import type { SlotReply, SlotRequest } from '../../../src/engine/cluster/timeline.ts';
import type { LimitHeaderStyle } from '../../../src/sandbox/limits/allowance.ts';

/** What all workers together may do at present. */
export type ClientPace = Pace;
export type Visit = Omit<SlotRequest, 'worker'>;
export type Reply = SlotReply;

/** How messages to the timeline and back travel. */
export interface Network {
  /** Travel time one way, and by how much more at random. Default 1 and 1. */
  readonly delayMs?: number;
  readonly jitterMs?: number;
  /** The share of messages that never arrive. Default 0. */
  readonly lost?: number;
  /** When no message arrives. */
  readonly away?: Span;
}

/** Seconds since the client started, from and to. */
export type Span = readonly [from: number, to: number];

/** An API and a client that calls it. */
export interface World {
  /** As `cqbatch sandbox --limit` accepts it. */
  readonly limit: string;
  /** Seconds to simulate. */
  readonly seconds: number;
  /** How answers state the limit. Default `none`. */
  readonly headers?: LimitHeaderStyle;
  /** The limit that answers state, if it is not the one in force. */
  readonly statedLimit?: string;
  /** Whether a refusal tells when to come back, in whole seconds. */
  readonly retryAfter?: boolean;
  /** Mean duration of a call, milliseconds; each differs by up to a fifth. Default 50. */
  readonly latencyMs?: number;
  /** Threads of a server that queues calls when all threads are busy, and its time for one call. */
  readonly server?: { readonly threads: number; readonly serviceMs: number };
  /** The status of refusals by the limit. Default 429. */
  readonly limitStatus?: 429 | 503;
  /** The share of calls that fail at random, whatever the rate. Default 0. */
  readonly noise?: number;
  /** The status of those calls. Default 503. */
  readonly noiseStatus?: 429 | 503;
  /** Whether they ask to wait for a second. */
  readonly noiseWaits?: boolean;
  /** When they fail; default: all the time. */
  readonly noisy?: Span;
  /** The share after that. Default 0. */
  readonly laterNoise?: number;
  /** When nothing is answered: answers due in this time come at its end. */
  readonly stalls?: Span;
  /** Calls of other clients of the same limit. */
  readonly others?: { readonly perSecond: number; readonly during: Span };
  /** When there is nothing to call for. */
  readonly idle?: Span;
  /** Rows that the client believes to have; default: unknown. It continues to call when they are done. */
  readonly rows?: number;
  /** Milliseconds into a minute at which the client starts. */
  readonly startAt?: number;
  /**
   * Processes that make the calls. Several of them have a timeline in Redis and clocks that differ. They report to each other
   * every 100 ms, learn of decisions half of that later, and only then know each other's calls in flight. Default 1.
   */
  readonly workers?: number;
  /** How long it takes on average to write the intent of a row before its call. Default 1. */
  readonly writeMs?: number;
  /** Between several workers and Redis. */
  readonly network?: Network;
  /** Calls in flight of single workers, by their index. */
  readonly slowWorkers?: readonly (number | undefined)[];
  /** Which worker does nothing at all, from when until when. */
  readonly frozen?: readonly (readonly [worker: number, from: number, to: number])[];
  /** Workers whose process the system suspends between a slot and its call: once in this many calls, for up to this time. */
  readonly suspended?: { readonly everyCalls: number; readonly forMs: number };
  /** Seconds at which the timeline loses all its data. */
  readonly forgets?: readonly number[];
  /** Another worker that sets a rate as if it had the lead. */
  readonly otherLeader?: { readonly rate: number; readonly during: Span };
  /** Which worker has the lead in a second; empty: no worker. */
  readonly leaderAt?: (second: number) => string;
  /** Calls per second, ungoverned. */
  readonly fixed?: number;
  /** Called for each call: milliseconds since the start, and the index of its worker. */
  readonly onCall?: (at: number, worker: number) => void;
  /** Calls a second that the client could make at most. Default 2,000. */
  readonly capacity?: number;
  /** What was learned before. */
  readonly known?: StartingPoint;
  /** Default 1. */
  readonly seed?: number;
}

/** What answers tell of a limit. */
export type Condition = readonly [told: string, world: Partial<World>];

/** What happened in a second, and what the governor decided at its end. */
export interface Second {
  accepted: number;
  rejected: number;
  /** Calls that ended with a 503 whose meaning was not known. */
  doubtful: number;
  pace?: Pace;
}

/** A limiter, with the parameters that make its figures comparable. */
export interface Model {
  readonly title: string;
  readonly world: World;
  /** When usage is judged: over whole windows, and once a change is over. Default: from 10 s. */
  readonly judged?: Span;
  /** The second in which the limit rises. */
  readonly risesAt?: number;
  /** The second in which it drops. */
  readonly dropsAt?: number;
}

export interface Figures {
  /** Share of the permitted calls that were made. */
  readonly used: number;
  /** Share of the calls that were rejected, after the first 10 s. */
  readonly rejected: number;
  /** The lowest usage in a whole minute. */
  readonly worstMinute: number;
  /** Seconds after a rise until 90 % of the new limit were in use for 5 s; infinite means never. */
  readonly risenAfter?: number;
  /** Seconds after a drop until less than 1 % of the calls were rejected, over 30 s; infinite means never. */
  readonly droppedAfter?: number;
}

/** Lets a governed client call a limited API, and reports each second. */
export type Simulate = (world: World) => Second[];

/** How many calls succeed in each second for a client that knows the limit and uses all of it. */
export type Ideal = (world: World) => number[];

/** The figures of a simulation. */
export type FiguresOf = (model: Model, seconds: readonly Second[], permitted: readonly number[]) => Figures;

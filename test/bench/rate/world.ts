import type { AnswerHeaders } from '../../../src/api/headers.ts';
import type { StatedLimit } from '../../../src/api/limits.ts';
import type { newTimeline, SlotReply, SlotRequest, setRate, take } from '../../../src/cluster/timeline.ts';
import type { Pace, StartingPoint } from '../../../src/pace.ts';
import type { CallScheduler } from '../../../src/rate/call-scheduler.ts';
import type { RateController } from '../../../src/rate/rate-controller.ts';
import type { isRefusal } from '../../../src/rate/traffic-meter.ts';
import type { Allowance, LimitHeaderStyle } from '../../../src/sandbox/limits/allowance.ts';
import type { Limiter } from '../../../src/sandbox/limits/limiters.ts';
import type { Prefetch } from '../../../src/worker/prefetch.ts';

/** What is simulated with. The benchmark passes the built program, the tests pass its sources. */
export interface Parts {
  readonly createController: (now: number, known: StartingPoint) => Pick<RateController, 'update'>;
  /** @param plan as `cqbatch sandbox --limit` takes it */
  readonly createLimiter: (plan: string) => Limiter;
  readonly limitHeaders: (
    allowance: Allowance,
    style: LimitHeaderStyle,
    now: number,
  ) => AnswerHeaders | undefined;
  readonly statedLimits: (headers: AnswerHeaders, now: number) => readonly StatedLimit[];
  readonly waitingTime: (headers: AnswerHeaders, body: undefined, now: number) => number | undefined;
  readonly createScheduler: (options: {
    readonly isShared: boolean;
    readonly concurrency?: number | undefined;
    readonly random: () => number;
  }) => Pick<
    CallScheduler,
    | 'active'
    | 'reserved'
    | 'elsewhere'
    | 'places'
    | 'restUntil'
    | 'step'
    | 'written'
    | 'released'
    | 'replied'
    | 'ended'
    | 'left'
    | 'refused'
    | 'heardOfRest'
  >;
  readonly newTimeline: typeof newTimeline;
  readonly setRate: typeof setRate;
  readonly take: typeof take;
  readonly withSpare: (concurrency: number) => number;
  readonly createPrefetch: () => Pick<Prefetch, 'update'>;
  readonly isRefusal: typeof isRefusal;
}

/** What all workers together may do at the moment. */
export type ClientPace = Pace;
export type Visit = Omit<SlotRequest, 'worker'>;
export type Reply = SlotReply;

/** How messages to the timeline and back travel. */
export interface Network {
  /** One way; and by how much more at random. Default 1 and 1. */
  readonly delayMs?: number;
  readonly jitterMs?: number;
  /** The share of messages that never arrive. Default 0. */
  readonly lost?: number;
  /** When none does. */
  readonly away?: Span;
}

/** Seconds since the client began, from and to. */
export type Span = readonly [from: number, to: number];

/** An API and a client that calls it. */
export interface World {
  /** As `cqbatch sandbox --limit` takes it. */
  readonly limit: string;
  /** Seconds to simulate. */
  readonly seconds: number;
  /** How answers tell of the limit. Default `none`. */
  readonly headers?: LimitHeaderStyle;
  /** The limit that answers tell of, where that is not the one that is kept. */
  readonly statedLimit?: string;
  /** Whether a refusal tells when to come back, in whole seconds. */
  readonly retryAfter?: boolean;
  /** Mean duration of a call, milliseconds. Default 50. */
  readonly latencyMs?: number;
  /** How far durations are from their mean, as a share of it. Default 0.2. */
  readonly jitter?: number;
  /** Places of a server that takes calls one after the other where they are all taken, and its time for one. */
  readonly server?: { readonly places: number; readonly serviceMs: number };
  /** The status of what the limit refuses. Default 429. */
  readonly limitStatus?: 429 | 503;
  /** The share of calls that fail at random, whatever the rate. Default 0. */
  readonly noise?: number;
  /** The status of those. Default 503. */
  readonly noiseStatus?: 429 | 503;
  /** Whether they ask to wait for a second. */
  readonly noiseWaits?: boolean;
  /** When they are; default: all the time. */
  readonly noisy?: Span;
  /** That share after it. Default 0. */
  readonly laterNoise?: number;
  /** When nothing is answered: what would be comes at the end of it. */
  readonly stalls?: Span;
  /** Calls of other clients of the same limit. */
  readonly others?: { readonly perSecond: number; readonly during: Span };
  /** When there is nothing to call for. */
  readonly idle?: Span;
  /** Rows that the client believes to have; default: nobody knows. It calls on when they are done. */
  readonly rows?: number;
  /** Milliseconds into a minute at which the client begins. */
  readonly startAt?: number;
  /**
   * Processes that make the calls. Several have a timeline in Redis, clocks that differ, tell each other what they meet
   * with every 100 ms, hear of decisions half of that later, and know the calls in flight of the others from then only.
   * Default 1.
   */
  readonly workers?: number;
  /** How long it takes on average to write a row down before its call. Default 1. */
  readonly writeMs?: number;
  /** Between several workers and Redis. */
  readonly network?: Network;
  /** Calls in flight of single workers, by their place. */
  readonly slowWorkers?: readonly (number | undefined)[];
  /** Which worker does nothing at all, from when to when. */
  readonly frozen?: readonly (readonly [place: number, from: number, to: number])[];
  /** Workers whose process the system suspends between a slot and its call: once in so many calls, for up to so long. */
  readonly suspended?: { readonly everyCalls: number; readonly forMs: number };
  /** Seconds at which the timeline loses all that it held. */
  readonly forgets?: readonly number[];
  /** Others that set a rate of their own, as if they had the lead, and whether the first one is silent meanwhile. */
  readonly otherLeaders?: readonly (readonly [
    from: number,
    to: number,
    another: { readonly id: string; readonly rate: number; readonly alone?: boolean },
  ])[];
  /** Who has the lead in a second; empty: nobody. */
  readonly leaderAt?: (second: number) => string;
  /** Calls per second, ungoverned. */
  readonly fixed?: number;
  /** Is told of each call: milliseconds since the beginning, and the place of its worker. */
  readonly onCall?: (at: number, worker: number) => void;
  /** Calls a second that the client could make at all. Default 2,000. */
  readonly capacity?: number;
  readonly bound?: number;
  /** A bound that takes the place of the other one, and the second in which it does. */
  readonly laterBound?: readonly [second: number, bound: number | undefined];
  /** What was found before. */
  readonly known?: StartingPoint;
  /** Default 1. */
  readonly seed?: number;
}

/** What happened in a second, and what the governor wanted at its end. */
export interface Second {
  accepted: number;
  rejected: number;
  /** Calls that ended with a 503 of which it was not known what it means. */
  doubtful: number;
  pace?: Pace;
}

/** A limiter with what makes its figures comparable. */
export interface Model {
  readonly title: string;
  readonly world: World;
  /** When what was used is judged: over whole windows, and once a change is over. Default: from 10 s on. */
  readonly judged?: Span;
  /** The second in which the limit rises. */
  readonly risesAt?: number;
  /** The second in which it drops. */
  readonly dropsAt?: number;
  /** What answers tell where this model is simulated. Default: all but the last. */
  readonly conditions?: readonly Condition[];
  /** Whether the seed makes no difference worth telling: one simulation is enough. */
  readonly isAlike?: boolean;
}

/** What the answers of an API tell; `503`: no headers either, and the limit answers 503 instead of 429. */
export type Condition = 'no headers' | '503' | 'Retry-After' | 'RateLimit' | 'X-RateLimit';

export interface Figures {
  /** Share of the permitted calls that were made. */
  readonly used: number;
  /** Share of the calls that were rejected, after the first 10 s. */
  readonly rejected: number;
  /** The lowest share that was used of a whole minute. */
  readonly worstMinute: number;
  /** Seconds after a rise until 90 % of the new limit were in use for 5 s; infinite: never. */
  readonly risenAfter?: number;
  /** Seconds after a drop from which on less than 1 % of the calls were rejected, over 30 s; infinite: never. */
  readonly droppedAfter?: number;
}

/** Lets a governed client call a limited API, and tells of each second. */
export type Simulate = (parts: Parts, world: World) => Second[];

/** How many calls a client gets through in each second that knows the limit and takes all of it. */
export type Ideal = (parts: Parts, world: World) => number[];

/** What a simulation comes to. */
export type FiguresOf = (model: Model, seconds: readonly Second[], permitted: readonly number[]) => Figures;

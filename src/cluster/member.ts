import { steadyNow } from '../clock.ts';
import type { Pace, PaceReport } from '../pace.ts';
import type { PublishedPace, TrafficReport, WorkerEntry } from './entries.ts';
import type { RatePolicy, RunPolicies } from './rate-policy.ts';
import {
  newTimeline,
  type RateCommand,
  type SlotReply,
  type SlotRequest,
  setRate,
  take,
} from './timeline.ts';

/** What a worker says of itself at each beat. */
export type WorkerBeat = Pick<WorkerEntry, 'active' | 'finished' | 'concurrency'> & {
  readonly traffic: TrafficReport;
};

/** What a worker learns at each beat. */
export interface Beat {
  /** Whether this worker decides for all. */
  readonly leads: boolean;
  /** The one that leads: what each worker has met with, this one included; else its own only. */
  readonly reports: ReadonlyMap<string, TrafficReport>;
  /** The one that leads: how fast the runs that are at work let the API be called. */
  readonly policies: RunPolicies;
  /** The one that leads: rows that these runs have left. */
  readonly rows: number;
  /** What was decided last, by whomever; absent: nothing yet. */
  readonly pace?: PublishedPace;
}

/** A worker among those of its API. */
export interface Member {
  /** Whether there can be others. */
  readonly isShared: boolean;
  beat(heartbeat: WorkerBeat): Promise<Beat>;
  /**
   * Sets the timeline to a pace, and publishes it.
   *
   * @returns false when another worker has the lead: nothing was done
   */
  decide(pace: PaceReport): Promise<boolean>;
  take(request: Omit<SlotRequest, 'worker'>): Promise<SlotReply>;
  leave(): Promise<void>;
}

/** The only worker of a datastore that is ours alone. */
export function onlyMember(policy: () => RatePolicy | undefined, rows: () => number): Member {
  const timeline = newTimeline();
  const worker = 'own';
  return {
    isShared: false,
    beat: async ({ traffic }) => ({
      leads: true,
      reports: new Map([[worker, traffic]]),
      policies: new Map([['own', policy()]]),
      rows: rows(),
    }),
    decide: async (pace) => setRate(timeline, steadyNow(), { worker, ...rateCommandOf(pace) }),
    take: async (request) => take(timeline, steadyNow(), { worker, ...request }),
    async leave() {},
  };
}

/** What a pace sets the timeline to. */
export function rateCommandOf(pace: Pace): Omit<RateCommand, 'worker'> {
  return {
    rate: pace.isKept ? pace.rate : undefined,
    cap: pace.concurrency,
    restMs: Math.max(0, (pace.restUntil ?? 0) - steadyNow()),
  };
}

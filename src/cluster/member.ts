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
  /** Whether it was also the last one to do so. */
  readonly hasLed: boolean;
  /** The one that leads: what each worker has met with, this one included; else its own only. */
  readonly reports: ReadonlyMap<string, TrafficReport>;
  /** The one that leads: how fast the runs that are at work let the API be called. */
  readonly policies: RunPolicies;
  /** The one that leads: whether a run has begun and not ended, also one whose coordinator is gone. */
  readonly hasRuns: boolean;
  /** The one that leads: rows that the runs at work have left. */
  readonly rows: number;
  /** What was decided last, by whomever; absent: nothing yet. */
  readonly pace?: PublishedPace;
}

/** A worker among those of its API. */
export interface Member {
  /** Whether there can be others. */
  readonly isShared: boolean;
  /** @param wantsLead whether it takes the lead, or keeps it, when no other worker has it */
  beat(heartbeat: WorkerBeat, wantsLead: boolean): Promise<Beat>;
  /**
   * Sets the timeline to a pace, and publishes it.
   *
   * @returns false when another worker has the lead: nothing was done
   */
  decide(pace: PaceReport): Promise<boolean>;
  /**
   * Gives up the lead: nothing may be called before a worker takes it.
   *
   * @returns false when another worker wants to call, or has the lead: nothing was done
   */
  giveUpLead(): Promise<boolean>;
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
      hasLed: true,
      reports: new Map([[worker, traffic]]),
      policies: new Map([['own', policy()]]),
      hasRuns: true,
      rows: rows(),
    }),
    decide: async (pace) => setRate(timeline, steadyNow(), { worker, ...rateCommandOf(pace) }),
    giveUpLead: async () => false,
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

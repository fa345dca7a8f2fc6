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

/** What a worker reports at each beat. */
export type WorkerBeat = Pick<WorkerEntry, 'active' | 'finished' | 'concurrency'> & {
  readonly traffic: TrafficReport;
};

/** What a worker learns at each beat. */
export interface Beat {
  /** Whether this worker decides for all. */
  readonly leads: boolean;
  /** Whether it was also the last worker to do so. */
  readonly hasLed: boolean;
  /** For the leading worker: the reports of all workers, including its own; otherwise only its own. */
  readonly reports: ReadonlyMap<string, TrafficReport>;
  /** For the leading worker: how fast the runs in progress let the API be called. */
  readonly policies: RunPolicies;
  /** For the leading worker: whether a run has started and not ended, even one whose coordinator is gone. */
  readonly hasRuns: boolean;
  /** For the leading worker: rows that the runs in progress have left. */
  readonly rows: number;
  /** The last decision, by any worker; absent: nothing yet. */
  readonly pace?: PublishedPace;
}

/** A worker among those of its API. */
export interface Member {
  /** Whether there can be others. */
  readonly isShared: boolean;
  /**
   * @param wantsLead whether it takes or keeps the lead when no other worker has it; while a run is in progress it always does
   */
  beat(heartbeat: WorkerBeat, wantsLead: boolean): Promise<Beat>;
  /**
   * Sets the timeline to a pace, and publishes it.
   *
   * @returns false, and does nothing, when another worker has the lead
   */
  decide(pace: PaceReport): Promise<boolean>;
  /**
   * Gives up the lead: nothing may be called before a worker takes it.
   *
   * @returns false, and does nothing, when another worker wants to call or has the lead
   */
  giveUpLead(): Promise<boolean>;
  take(request: Omit<SlotRequest, 'worker'>): Promise<SlotReply>;
  leave(): Promise<void>;
}

/** The only worker of a datastore that is exclusively ours. */
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

/** The timeline command for a pace. */
export function rateCommandOf(pace: Pace): Omit<RateCommand, 'worker'> {
  return {
    rate: pace.isKept ? pace.rate : undefined,
    cap: pace.concurrency,
    restMs: Math.max(0, (pace.restUntil ?? 0) - steadyNow()),
  };
}

import { steadyNow } from '../../base/async/clock.ts';
import type { Pace, PaceReport } from '../../domain/pace.ts';
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
export type WorkerBeat = Pick<WorkerEntry, 'active' | 'finished' | 'concurrency' | 'isAuto' | 'outage'> & {
  readonly traffic: TrafficReport;
};

/** What a worker learns at each beat. */
export interface Beat {
  /** Whether this worker decides the pace for all workers. */
  readonly leads: boolean;
  /** Whether this worker was also the last to lead. */
  readonly hasLed: boolean;
  /** For the leading worker: the reports of all workers, including its own; otherwise only its own. */
  readonly reports: ReadonlyMap<string, TrafficReport>;
  /** For the leading worker: the policies of the runs in progress of the highest priority. */
  readonly policies: RunPolicies;
  /** For the leading worker: whether a started run has not ended, even if its coordinator is gone. */
  readonly hasRuns: boolean;
  /** For the leading worker: unfinished rows of the runs in progress. */
  readonly rows: number;
  /** The last decision of another worker; absent before the first, and for the worker that leads on. */
  readonly pace?: PublishedPace | undefined;
}

/** What one worker does together with the other workers of its API. */
export interface Membership {
  /** Whether other workers can join. */
  readonly isShared: boolean;
  /** @param wantsLead whether to take or keep a free lead; while a run is in progress, every worker does */
  beat(heartbeat: WorkerBeat, wantsLead: boolean): Promise<Beat>;
  /**
   * Sets the timeline to a pace, and publishes it.
   *
   * @returns false, without effect, when another worker has the lead
   */
  decide(pace: PaceReport): Promise<boolean>;
  /**
   * Gives up the lead: nothing may be called until a worker takes it.
   *
   * @returns false, without effect, when another worker wants to call or has the lead
   */
  giveUpLead(): Promise<boolean>;
  take(request: Omit<SlotRequest, 'worker'>): Promise<SlotReply>;
  /** Publishes what this worker knows of its batches, in place of its earlier testimony. */
  testify(testimony: string): Promise<void>;
  leave(): Promise<void>;
}

/** The only worker of an exclusive datastore. */
export function onlyMembership(policy: () => RatePolicy | undefined, rows: () => number): Membership {
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
    async testify() {},
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

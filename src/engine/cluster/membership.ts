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
  takeSlots,
} from './timeline.ts';

export type WorkerBeat = Pick<WorkerEntry, 'active' | 'finished' | 'concurrency' | 'isAuto' | 'outage'> & {
  readonly traffic: TrafficReport;
};

export interface Beat {
  readonly leads: boolean;
  readonly hasLed: boolean;
  /** The reports of all workers, for the leader; otherwise only this worker's own. */
  readonly reports: ReadonlyMap<string, TrafficReport>;
  /** The limits of the runs in progress of the highest priority, for the leader. */
  readonly policies: RunPolicies;
  /** For the leader: whether a started run has not ended, even if its coordinator is gone. */
  readonly hasRuns: boolean;
  /** For the leader: the unfinished rows of the runs in progress. */
  readonly rows: number;
  /** The last decision of another worker; absent before the first, and for the worker that keeps the lead. */
  readonly pace?: PublishedPace | undefined;
}

/** What a worker does together with the others of its API. */
export interface Membership {
  /** @param wantsLead take or keep a free lead; while a run is in progress, every worker does */
  beat(heartbeat: WorkerBeat, wantsLead: boolean): Promise<Beat>;
  /** @returns false, without effect, when another worker has the lead */
  decide(pace: PaceReport): Promise<boolean>;
  /**
   * Nothing may be called until a worker takes the lead. @returns false, without effect, when another worker wants to call or has the lead
   */
  giveUpLead(): Promise<boolean>;
  take(request: Omit<SlotRequest, 'worker'>): Promise<SlotReply>;
  leaveCluster(): Promise<void>;
}

export function onlyMembership(policy: () => RatePolicy | undefined, rows: () => number): Membership {
  // No other worker holds a slot, so the first slot need not lie beyond those that others may have taken.
  const timeline = { ...newTimeline(), next: 0 };
  const worker = 'own';
  return {
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
    take: async (request) => takeSlots(timeline, steadyNow(), { worker, ...request }),
    async leaveCluster() {},
  };
}

export function rateCommandOf(pace: Pace): Omit<RateCommand, 'worker'> {
  return {
    rate: pace.isKept ? pace.rate : undefined,
    cap: pace.concurrency,
    restMs: Math.max(0, (pace.restUntil ?? 0) - steadyNow()),
  };
}

import { steadyNow } from '../clock.ts';
import type { PaceEntry, TrafficReport, WorkerEntry } from './entries.ts';
import type { RatePolicy } from './rate-policy.ts';
import {
  newTimeline,
  type RateCommand,
  type SlotReply,
  type SlotRequest,
  setRate,
  take,
} from './timeline.ts';

/** What a worker says of itself at each beat. */
export type Heartbeat = Pick<WorkerEntry, 'active' | 'finished' | 'concurrency'> & {
  readonly traffic: TrafficReport;
};

/** What a worker learns at each beat. */
export interface Beat {
  /** Whether this worker decides for all. */
  readonly leads: boolean;
  /** The one that leads: what each worker has met with, this one included; else its own only. */
  readonly reports: ReadonlyMap<string, TrafficReport>;
  /** The one that leads: how fast the runs that are there let the API be called. */
  readonly policies: readonly (RatePolicy | undefined)[];
  /** What was decided last, by whomever; absent: nothing yet. */
  readonly pace?: PaceEntry;
}

/** What is decided, for the others. */
export type Decision = Omit<PaceEntry, 'baseUrl' | 'worker' | 'runs' | 'workers' | 'seenAt'>;

/** A worker among those of its API. */
export interface Member {
  /** Whether there can be others. */
  readonly isShared: boolean;
  beat(heartbeat: Heartbeat): Promise<Beat>;
  /**
   * Sets the rate of the timeline, and tells the others what was decided.
   *
   * @returns false when another worker has the lead: nothing was done
   */
  decide(decision: Decision, command: Omit<RateCommand, 'worker'>): Promise<boolean>;
  take(request: Omit<SlotRequest, 'worker'>): Promise<SlotReply>;
  leave(): Promise<void>;
}

/** The only worker of a datastore that is ours alone. */
export function onlyMember(policy: RatePolicy | undefined): Member {
  const timeline = newTimeline();
  const worker = 'own';
  return {
    isShared: false,
    beat: async ({ traffic }) => ({ leads: true, reports: new Map([[worker, traffic]]), policies: [policy] }),
    decide: async (_decision, command) => setRate(timeline, steadyNow(), { worker, ...command }),
    take: async (request) => take(timeline, steadyNow(), { worker, ...request }),
    async leave() {},
  };
}

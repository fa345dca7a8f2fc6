import { steadyNow } from '../../../src/base/async/clock.ts';
import { newTimeline, setRate, takeSlots } from '../../../src/engine/cluster/timeline.ts';
import { CallGate } from '../../../src/engine/rate/call-gate.ts';
import { CallScheduler } from '../../../src/engine/rate/call-scheduler.ts';

/** The rules for calls. */
export interface Rules {
  /** Calls in flight. */
  readonly cap: number;
  /** Calls per second; absent means that the rate is not kept. */
  readonly rate?: number;
  /** How long no call may be made. */
  readonly restMs?: number;
}

/** A gate on a timeline of its own, for which a test sets the rules. */
export function gateOnTimeline(first: Rules, concurrency?: number) {
  const timeline = newTimeline();
  const failure = { error: undefined as Error | undefined };
  const errors: Error[] = [];
  const gate = new CallGate({
    scheduler: new CallScheduler({ concurrency, random: () => 0.5 }),
    async take(request) {
      if (failure.error !== undefined) throw failure.error;
      return takeSlots(timeline, steadyNow(), { worker: 'own', ...request });
    },
    onError: (error) => errors.push(error),
  });
  const set = ({ rate, cap, restMs = 0 }: Rules): void => {
    setRate(timeline, steadyNow(), { worker: 'own', rate, cap, restMs });
    gate.setCommonRest(steadyNow() + restMs);
  };
  set(first);
  return { gate, set, failure, errors };
}

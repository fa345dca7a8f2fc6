import { after, deferred, onAbort, unlessAborted } from '../../../base/async/waiting.ts';
import type { Attribution } from '../../../domain/actor.ts';
import type { StopReason } from '../feed/coordinator.ts';
import { FailureGuard, haltedBy } from '../record/guards.ts';
import type { OpenRun } from '../record/open-run.ts';
import { budgetSpent, type RunEnding } from '../record/run-outcome.ts';
import type { Command } from './control.ts';
import { type SessionOptions, shutdownMs, Work } from './work.ts';

/**
 * The work on a run in this process until it ends. It starts with the rows that the datastore holds. Afterwards the datastore holds nothing
 * of the run, unless the run is handed over or another machine is still calling one of its rows.
 *
 * ```
 *    ┌──(rows lost, or to be read from their file, next stage)─────────┐
 *    ▼                                                                 │
 * working ──(any reason to stop)──▶ leaving ───────────────────────────┴──▶ ended
 *    ▲                                 └──(pause)──▶ paused ──(cancel, interrupt)──┘
 *    └──────────────(unpause)──────────────────────────┘
 * ```
 *
 * - **working**: a coordinator feeds, and an API worker calls, if there is a client.
 * - **leaving**: nothing is fed or claimed. Calls in flight finish; then the datastore is drained.
 * - **paused**: the datastore holds nothing of the run; only the journal is open.
 */
export class RunSession {
  readonly #run: OpenRun;
  readonly #options: SessionOptions;
  readonly #stopping: AbortSignal;

  constructor(run: OpenRun, options: SessionOptions) {
    this.#run = run;
    this.#options = options;
    this.#stopping = AbortSignal.any([options.interrupt, run.lost, options.deadline]);
  }

  /** @throws a fatal error when the datastore or the disk fails; the journal says what was done before */
  async untilEnd(): Promise<RunEnding> {
    const { record, journal } = this.#run;
    const guard = new FailureGuard(record.options, journal.failures);
    const givenUp = this.#whenGivenUp();
    for (;;) {
      const leaving = await new Work(this.#run, this.#options, guard, givenUp).untilLeft();
      const ending = await this.#endingAfter(leaving);
      if (ending === undefined) continue;
      this.#options.log.info({ run: record.id, state: ending.state }, 'run ended');
      return ending;
    }
  }

  /** @returns undefined when more work remains */
  async #endingAfter(leaving: StopReason): Promise<RunEnding | undefined> {
    if (leaving.state === 'restart') return undefined;
    if (leaving.state === 'paused') return this.#paused(leaving);
    if (leaving.state === 'completed') return this.#nextStage();
    if (!('halt' in leaving) && !('placeToSee' in leaving)) return leaving;
    const numberOf = await this.#options.rows.numbers();
    if ('placeToSee' in leaving) {
      const { placeToSee, ...ending } = leaving;
      return { ...ending, rowToSee: { row: numberOf(placeToSee) } };
    }
    return { state: 'halted', because: 'failures', ...haltedBy(leaving.halt, numberOf) };
  }

  async #paused({ state: _, ...attribution }: Attribution & { readonly state: 'paused' }) {
    const { log, controls, onEvent, rateInForce } = this.#options;
    log.info({ run: this.#run.record.id }, 'run paused');
    onEvent({ type: 'paused', paused: true, attribution });
    const commanded = deferred<Command>();
    const forget = controls.on(['unpause', 'cancel'], commanded.resolve);
    const wanted = await this.#unlessStopped(commanded.promise).finally(forget);
    if ('state' in wanted) return wanted;
    const { command, ...by } = wanted;
    if (command === 'cancel') return { state: 'cancelled', ...by } as const;
    onEvent({ type: 'paused', paused: false, attribution: by });
    await unlessAborted(rateInForce(), this.#stopping);
    return undefined;
  }

  async #nextStage(): Promise<RunEnding | undefined> {
    const { controls, stages } = this.#options;
    const cancelling = new AbortController();
    const commanded = deferred<Command>();
    const forget = controls.on(['cancel'], (command) => {
      cancelling.abort();
      commanded.resolve(command);
    });
    const cancelled = commanded.promise.then(({ command: _, ...attribution }) => {
      return { next: { state: 'cancelled', ...attribution } as const };
    });
    const next = stages.next(AbortSignal.any([this.#stopping, cancelling.signal]));
    const first = Promise.race([cancelled, next.then((next) => ({ next }))]);
    const known = await this.#unlessStopped(first).finally(forget);
    return 'state' in known ? known : known.next;
  }

  /** @throws when the lock on the run is lost */
  async #unlessStopped<Value extends object>(value: Promise<Value>): Promise<Value | RunEnding> {
    const { interrupt, deadline } = this.#options;
    const known = await unlessAborted(value, this.#stopping);
    this.#run.lost.throwIfAborted();
    if (known !== undefined) return known;
    return interrupt.aborted ? { state: 'interrupted' } : budgetSpent(String(deadline.reason));
  }

  /** Aborts when the user wants to stop and a shared datastore does not answer in time. */
  #whenGivenUp(): AbortSignal {
    const { datastore } = this.#run;
    const givingUp = new AbortController();
    const watch = async (): Promise<void> => {
      // Calls in flight may take one such time, and draining a second one; with an unreachable datastore, neither ends.
      for (let waited = 0; waited < 3; waited += 1) {
        await after(shutdownMs);
        if (datastore.trouble !== undefined) break;
      }
      givingUp.abort();
    };
    if (!datastore.exclusive) onAbort(this.#options.interrupt, watch);
    return givingUp.signal;
  }
}

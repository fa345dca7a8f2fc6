import { usageError } from '../../../errors.ts';
import type { RunRecord } from '../../../index.ts';
import { deferred, onAbort } from '../../../waiting.ts';
import type { Flags } from '../../config/load.ts';
import { openTerminal } from '../../terminal.ts';
import { runManifest } from '../run/run-manifest.ts';
import type { RowBudget } from './budget.ts';
import { contextOf } from './command.ts';

/** The runs that an agent has started, which continue in this process while the agent does other things. */
export class AgentRuns {
  readonly #budget: RowBudget | undefined;
  /** The runs until they end, with what interrupts them. */
  readonly #inProgress = new Map<Promise<unknown>, () => void>();

  /** @param budget without one, no plan is run */
  constructor(budget: RowBudget | undefined) {
    this.#budget = budget;
  }

  /**
   * Begins the run of an approved plan.
   *
   * @param file path of the plan
   * @returns once it calls rows, or what the command would print if it does not
   * @throws the error of the command; a usage error `BUDGET_MISSING` or `BUDGET_EXCEEDED`
   */
  async begin(flags: Flags, file: string): Promise<object> {
    const budget = this.#budget;
    if (budget === undefined) {
      throw usageError(
        'BUDGET_MISSING',
        'This server runs no plan: a person must start it with --max-rows N, the number of rows that agents may have called.',
      );
    }
    const { context, printed } = await contextOf(flags);
    const started = deferred<object>();
    const stop = new AbortController();
    let left = 0;
    let planned: RunRecord | undefined;
    let isStarted = false;
    const run = runManifest(
      {
        ...context,
        async onPlanned(record) {
          left = await budget.take(context.store, record);
          planned = record;
        },
        onStarted({ id, plan }, interrupt) {
          isStarted = true;
          onAbort(stop.signal, interrupt);
          started.resolve({ run: id, state: 'running', rows: plan.callable, budget_left: left });
        },
      },
      file,
    );
    const ended = run.catch(({ message }: Error) => {
      // An earlier error is the result of the tool.
      if (isStarted) openTerminal(flags).warn(`error: ${message}`);
    });
    this.#inProgress.set(ended, () => stop.abort());
    void ended.then(() => this.#inProgress.delete(ended));
    try {
      return await Promise.race([started.promise, run.then(() => printed.document)]);
    } finally {
      if (!isStarted && planned !== undefined) budget.giveBack(planned);
    }
  }

  /** Interrupts the runs, as Ctrl-C does, and waits for their end. */
  async close(): Promise<void> {
    for (const interrupt of this.#inProgress.values()) interrupt();
    await Promise.all(this.#inProgress.keys());
  }
}

import { type AskAfterCanary, canaryFailure, canaryResults, canaryRows, lastOf } from './canary.ts';
import type { OpenRun } from './open-run.ts';
import type { RecordKeeper } from './record-keeper.ts';
import { readRowNumbers } from './row-numbers.ts';
import type { RunEnd } from './run-here.ts';
import type { PlannedManifest, RowSelection } from './run-manifest.ts';

/**
 * What a run calls one after the other: its canary, unless that was evaluated before, then all other rows. Each stage has
 * its results before the next one begins.
 */
export class Stages {
  readonly #run: OpenRun;
  readonly #planned: PlannedManifest;
  readonly #keeper: RecordKeeper;
  readonly #ask: AskAfterCanary;
  /** Undefined once there is none any more. */
  #canary: ReadonlySet<number> | undefined;

  /** @param ask absent: nobody can be asked */
  static async of(
    run: OpenRun,
    planned: PlannedManifest,
    keeper: RecordKeeper,
    ask: AskAfterCanary = async () => undefined,
  ): Promise<Stages> {
    const { record, journal } = run;
    const hasCanary = record.options.canary !== undefined && record.canary === undefined;
    return new Stages(run, planned, keeper, ask, hasCanary ? await canaryRows(record, journal) : undefined);
  }

  private constructor(
    run: OpenRun,
    planned: PlannedManifest,
    keeper: RecordKeeper,
    ask: AskAfterCanary,
    canary: ReadonlySet<number> | undefined,
  ) {
    this.#run = run;
    this.#planned = planned;
    this.#keeper = keeper;
    this.#ask = ask;
    this.#canary = canary;
  }

  /** The rows that may be called now; undefined: all. */
  get selection(): RowSelection | undefined {
    const canary = this.#canary;
    return canary && { has: (row) => canary.has(row), last: lastOf(canary) };
  }

  /**
   * Goes on to the next stage, when all rows that may be called now have their results.
   *
   * @returns how the run ends, when it does
   */
  async next(signal: AbortSignal): Promise<RunEnd | undefined> {
    const { journal, record } = this.#run;
    if (journal.finishedCount >= record.plan.rows || this.#canary === undefined)
      return { state: 'completed' };
    const halt = await this.#evaluate(this.#canary, signal);
    if (halt === undefined) this.#canary = undefined;
    return halt;
  }

  async #evaluate(canary: ReadonlySet<number>, signal: AbortSignal): Promise<RunEnd | undefined> {
    const { record, journal, store } = this.#run;
    const { canary: options } = record.options;
    if (options === undefined) return undefined;
    const numberOf = await readRowNumbers(store.folder(record.id), record);
    const rows = (await canaryResults(canary, this.#planned, journal)).map(({ result, subject }) => ({
      result: { ...result, row: numberOf?.(result.row) ?? result.row },
      subject,
    }));
    const failed = rows.filter(({ result }) => result.outcome === 'failed').length;
    const results = { rows, failed, left: record.plan.rows - journal.finishedCount };
    const answer = await this.#ask(results, signal);
    if (signal.aborted) return { state: 'interrupted' };
    const failure = answer === undefined ? canaryFailure(results, options, record.id) : undefined;
    const wentOn = answer ?? failure === undefined;
    this.#keeper.change({
      canary: { at: new Date().toISOString(), rows: rows.length, failed, wentOn },
    });
    await this.#keeper.save();
    if (wentOn) return undefined;
    const declined = `the user has stopped it after its canary, in which ${failed} of ${rows.length} rows have failed. Go on with: cqbatch resume ${record.id}`;
    return { state: 'halted', because: 'canary', reason: failure ?? declined };
  }
}

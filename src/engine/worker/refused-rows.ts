import { noHistory } from '../../domain/attempts.ts';
import type { Outage } from '../../domain/pace.ts';
import type { AttemptHistory } from '../../domain/row-result.ts';
import type { ApiAnswer } from '../api/client.ts';
import type { JudgedAttempt, Judgement } from './judge.ts';
import {
  fewestAcceptedOthers,
  isSuspect,
  LatestCalls,
  mostRefusalsAlone,
  type OtherCalls,
  withoutNumbers,
} from './other-rows.ts';

interface RefusedRow {
  readonly refusals: number;
  /** When the row is due. Absent: the row is not yet known to be refused alone. */
  readonly dueAt: number | undefined;
}

/** This many rows that failed because the API refused them alone explain the same refusal of the last rows. */
const rowsThatExplainRefusal = 2;
/** If more of the accepted rows were refused before, the last rows may only need patience. */
const mostShareOfOnceRefused = 0.25;
/** The most texts of refusals that are kept, to bound memory. */
const keptTexts = 20;

/** The rows that the API has refused and not accepted since, compared with the latest calls of others. */
export class RefusedRows {
  /** Unfinished rows of all runs; undefined while unknown, or while other workers call them, too. */
  rowsLeft: number | undefined;
  readonly latest = new LatestCalls();
  readonly #rows = new Map<string, RefusedRow>();
  readonly #failedTexts = new Map<string, number>();

  /** The calls of other rows since the last call of this row. */
  callsOfOthers({ startedAt, earlier }: AttemptHistory = noHistory, answer: ApiAnswer): OtherCalls {
    const calls = this.latest.callsSince(earlier?.at(-1)?.at);
    if (!this.#areOnlyRefusedLeft) return calls;
    const message = answer.ok ? '' : answer.failure.message;
    const isLikeFailed = (this.#failedTexts.get(withoutNumbers(message)) ?? 0) >= rowsThatExplainRefusal;
    const { accepted } = this.latest.callsSince(startedAt);
    return { ...calls, acceptedInAll: isLikeFailed ? Math.max(accepted, fewestAcceptedOthers) : accepted };
  }

  /** Whether no other row will be accepted, and refused rows are hardly ever accepted later. */
  get #areOnlyRefusedLeft(): boolean {
    const { rowsLeft } = this;
    return (
      rowsLeft !== undefined &&
      this.#rows.size >= rowsLeft &&
      this.latest.shareOfOnceRefusedRows <= mostShareOfOnceRefused
    );
  }

  noteJudgement({ task, answer }: JudgedAttempt, judgement: Judgement): void {
    const row = `${task.run} ${task.row}`;
    if (answer.ok || answer.failure.class !== 'slow-down') this.#rows.delete(row);
    else if (judgement.kind === 'finished') {
      this.#rows.delete(row);
      this.#countText(answer.failure.message);
    } else {
      const { refusals, others } = judgement.history.singledOut ?? { refusals: 0, others: 0 };
      const delayMs = judgement.kind === 'returned' ? (judgement.delayMs ?? 0) : undefined;
      const isAlone = delayMs !== undefined && isSuspect({ refusals, others });
      this.#rows.set(row, { refusals, dueAt: isAlone ? Date.now() + delayMs : undefined });
    }
  }

  #countText(message: string): void {
    const text = withoutNumbers(message);
    const rows = this.#failedTexts.get(text) ?? 0;
    if (rows > 0 || this.#failedTexts.size < keptTexts) this.#failedTexts.set(text, rows + 1);
  }

  /** What the worker waits for when it has only refused rows to call. */
  get wait(): Outage | undefined {
    const now = Date.now();
    const rows = [...this.#rows.values()].filter(({ dueAt }) => dueAt !== undefined);
    if (rows.length === 0 || !this.#areOnlyRefusedLeft) return undefined;
    const refusals = Math.min(...rows.map((row) => row.refusals));
    const last = rows.length === 1 ? 'the last row' : `the last ${rows.length} rows`;
    return {
      reason: `the API refuses ${last}: ${refusals} of ${mostRefusalsAlone} times`,
      testMs: Math.max(0, Math.min(...rows.map(({ dueAt = now }) => dueAt)) - now),
    };
  }
}

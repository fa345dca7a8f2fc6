import { steadyNow } from '../../base/async/clock.ts';
import { CqbatchError, errorText, fatalError } from '../../base/errors/errors.ts';
import type { Log } from '../../base/log.ts';
import type { RowResult } from '../../domain/row-result.ts';
import type { ApiAnswer, ApiClient } from '../api/client.ts';
import { type ApiFailure, apiFailure } from '../api/failure.ts';
import { findOperation, type Operation } from '../operation/operation.ts';
import { shownRequest } from '../operation/shown-request.ts';
import type { Claim, RowVerdict } from '../queue/claimed-batch.ts';
import type { RowCall, RowTask } from '../queue/payload.ts';
import type { CallGate } from '../rate/call-gate.ts';
import { isRefusal, type TrafficMeter } from '../rate/traffic-meter.ts';
import { decodeCallable } from '../rows/row-line.ts';
import type { CircuitBreaker } from './breaker/circuit-breaker.ts';
import { healthEvidence } from './breaker/evidence-of-call.ts';
import { callRequest } from './call-request.ts';
import { asRefusal, type JudgedAttempt, type Judgement, judge, returnUncharged } from './judge.ts';
import { isSuspect } from './other-rows.ts';
import { type ReadAnswer, readAnswer } from './read-answer.ts';
import type { RefusedRows } from './refused-rows.ts';
import type { RetryQuota } from './retry-quota.ts';
import { refusalToRepeat, returnUncalled } from './uncalled-rows.ts';

/** What happened to a row, for progress and logs, never for accounting. */
export type WorkerEvent = { readonly run: string; readonly row: number } & (
  | { readonly type: 'finished'; readonly result: RowResult }
  | { readonly type: 'retrying'; readonly code: string; readonly delayMs: number }
  | { readonly type: 'throttled'; readonly waitMs: number }
  | { readonly type: 'returned' }
);

export interface RowProcessorOptions {
  readonly operations: readonly Operation[];
  readonly client: Pick<ApiClient, 'send'>;
  readonly gate: Pick<CallGate, 'reserve' | 'enter' | 'release' | 'noteSent' | 'leave'>;
  readonly meter: Pick<TrafficMeter, 'noteSent' | 'noteEnd' | 'refuses503'>;
  readonly breaker: Pick<CircuitBreaker, 'prove' | 'begin' | 'end' | 'admit' | 'assess' | 'endedOutages'>;
  readonly refusedRows: RefusedRows;
  readonly quota: Pick<RetryQuota, 'take' | 'noteSuccess'>;
  readonly proven?: Iterable<string> | undefined;
  readonly isGoverned: () => boolean;
  readonly log: Log;
  readonly onEvent: (event: WorkerEvent) => void;
  /** Called when no row can succeed: the worker must claim no more. */
  readonly onHalt: (failure: ApiFailure, at: Pick<RowCall, 'row' | 'path'>) => void;
}

/** The pause before a row is called again whose refusal could not yet be understood. */
const prematureMs = 1_000;

function isTokenInDoubt(answer: ApiAnswer): boolean {
  return !answer.ok && answer.failure.code === 'PERMISSION_DENIED';
}

/** The row's call, or why it can't be made here: another version of the program, or another module, may have planned the row. */
export function callOf(
  { row, line, operation: of, history, attemptsUsed }: RowTask,
  run: string,
  operations: readonly Operation[],
): RowCall | CqbatchError {
  const operation = of.name;
  if (findOperation(operations, operation) === undefined)
    return fatalError(
      'UNKNOWN_OPERATION',
      `A row in the datastore asks for the operation ${operation}, which this worker does not know. ` +
        'Pass --operations with the module that has it, or use the version of cqbatch that started the run.',
    );
  try {
    const { subject, values, requestDigest, key } = decodeCallable(line, of);
    const request = shownRequest(operations, { row, operation, values, requestDigest });
    return { run, row, operation, subject, key, history, attemptsUsed, ...request };
  } catch (error) {
    if (error instanceof CqbatchError) return error;
    throw error;
  }
}

/**
 * Makes one attempt; the queue repeats attempts.
 *
 * Objects made for each row get new properties before a spread, `{ requests: 1, ...answer }`: on Node 20, a property added after a leading
 * spread moves the object to the old generation.
 */
export function createRowProcessor(options: RowProcessorOptions) {
  const { operations, client, gate, meter, breaker, refusedRows, quota, log, onEvent, onHalt } = options;
  /** Operations of which rows have succeeded: anywhere, which proves the address; and here, which also proves the token. */
  const proven = new Set<string>();
  const provenHere = new Set<string>();
  const { latest } = refusedRows;
  const ignoredWaits = new Set<string>();
  prove(options.proven ?? []);

  function prove(names: Iterable<string>): void {
    for (const name of names) {
      if (!proven.has(name)) breaker.prove();
      proven.add(name);
    }
  }

  /** @returns by when the call must leave; `gate.leave` must follow; undefined when the call must not be made now */
  async function admitted(claim: Claim): Promise<number | undefined> {
    if (!(await gate.reserve())) return undefined;
    const admission = breaker.admit();
    const isAdmitted = typeof admission === 'boolean' ? admission : await admission;
    const begunAt = performance.now();
    if (!isAdmitted || !(await claim.intend())) {
      gate.release();
      return undefined;
    }
    const leaveBy = await gate.enter(performance.now() - begunAt);
    if (leaveBy === undefined || claim.isWanted()) return leaveBy;
    gate.leave();
    return undefined;
  }

  return async (task: RowCall, claim: Claim, signal: AbortSignal): Promise<RowVerdict> => {
    const operation = findOperation(operations, task.operation);
    if (operation === undefined) throw new TypeError(`${task.operation} is not a known operation`);
    prove(claim.policy.proven ?? []);
    breaker.begin();
    let hasSeat = false;
    const leave = (): void => {
      if (hasSeat) gate.leave();
      hasSeat = false;
    };
    try {
      if (!operation.repeatable && task.history?.unclear) {
        const refusal = refusalToRepeat(task);
        onEvent({ type: 'finished', run: task.run, row: task.row, result: refusal.result });
        return refusal;
      }
      const isRetry = claim.attemptsUsed > 0;
      const waitMs = isRetry ? quota.take(task.run, steadyNow()) : 0;
      if (waitMs > 0) return { ...returnUncalled(task), delayMs: waitMs };
      const leaveBy = await admitted(claim);
      if (leaveBy === undefined) return returnUncalled(task);
      hasSeat = true;
      const startedAt = new Date();
      const { endedOutages } = breaker;
      const { answer, check } = await call(task, operation, claim, leaveBy, signal);
      const attempt: JudgedAttempt = {
        task,
        operation,
        claim,
        answer: meter.refuses503 ? asRefusal(answer, task, operation) : answer,
        check,
        startedAt,
        finishedAt: new Date(),
        ...proofOf(task, claim, answer),
        otherCalls: refusedRows.callsOfOthers(task.history, answer),
        isGoverned: options.isGoverned(),
        random: Math.random(),
      };
      const judgement = judge(attempt);
      if (judgement.kind === 'finished' && judgement.result.code === 'OK') {
        proven.add(task.operation);
        provenHere.add(task.operation);
      }
      addToLatest(attempt);
      refusedRows.noteJudgement(attempt, judgement);
      const evidence = healthEvidence(attempt, judgement);
      if (evidence.kind === 'answered') quota.noteSuccess(task.run, isRetry, steadyNow());
      const assessed = breaker.assess(evidence, endedOutages);
      // A promise means that the breaker waits for the outcomes of the next calls: this row frees its seat for them.
      if (typeof assessed !== 'string') leave();
      const blame = typeof assessed === 'string' ? assessed : await assessed;
      const verdict =
        evidence.kind === 'trouble' && blame !== 'row'
          ? retryWithoutCharge(attempt, evidence.failure)
          : reported(attempt, settled(attempt, judgement));
      const { received } = answer;
      if (received === undefined) return verdict;
      return { answer: { row: task.row, at: startedAt.toISOString(), ...received }, ...verdict };
    } finally {
      leave();
      breaker.end();
    }
  };

  function addToLatest({ task: { history }, answer, startedAt }: JudgedAttempt): void {
    const kind = answer.ok ? 'permanent' : answer.failure.class;
    if (kind === 'permanent') latest.add(startedAt, 'accepted', (history?.unprocessed ?? 0) > 0);
    else if (kind === 'slow-down' && !isSuspect(history?.singledOut)) latest.add(startedAt, 'refused');
    else if (kind === 'retry' && !isSuspect(history?.failedAlone)) latest.add(startedAt, 'failed');
  }

  async function call(
    task: RowCall,
    operation: Operation,
    { policy }: Claim,
    leaveBy: number,
    signal: AbortSignal,
  ): Promise<ReadAnswer> {
    const metered = meter.noteSent();
    let read: ReadAnswer | undefined;
    let ownSlot: number | undefined = leaveBy;
    const onSent = () => {
      gate.noteSent(ownSlot);
      ownSlot = undefined;
    };
    try {
      const sent = await client.send(callRequest(task, operation, policy), {
        signal,
        keepAnswer: policy.saveAnswers,
        onSent,
      });
      if (sent.ignoredWaits !== undefined) logIgnored(sent.ignoredWaits);
      read = readAnswer(task, operation, sent);
      return read;
    } catch (error) {
      // A library user's client may throw.
      const code = signal.aborted ? 'INTERRUPTED' : 'CLIENT_FAILED';
      const failure = apiFailure(code, errorText(error), { unclear: true });
      return { answer: { ok: false, requests: 1, durationMs: steadyNow() - metered.sentAt, failure } };
    } finally {
      const answer = read?.answer;
      const isOwn =
        isSuspect(task.history?.singledOut) &&
        answer?.ok === false &&
        isRefusal(answer.failure, meter.refuses503);
      meter.noteEnd(metered, isOwn ? undefined : answer);
    }
  }

  function logIgnored(waits: ReadonlyMap<string, string>): void {
    for (const [header, value] of waits) {
      if (!ignoredWaits.has(header)) log.warn({ header, value }, 'waiting time ignored');
      ignoredWaits.add(header);
    }
  }

  function proofOf({ operation }: RowCall, { policy }: Claim, answer: ApiAnswer) {
    return {
      isOperationProven: (isTokenInDoubt(answer) ? provenHere : proven).has(operation),
      isAddressProven: proven.has(operation) || policy.succeededBefore?.includes(operation) === true,
    };
  }

  /** Judges a premature refusal again: a row of the operation may have succeeded since. */
  function settled(attempt: JudgedAttempt, judgement: Judgement): Judgement {
    const { task, claim, answer } = attempt;
    return judgement.kind === 'premature'
      ? judge({ ...attempt, ...proofOf(task, claim, answer) })
      : judgement;
  }

  function retryWithoutCharge(attempt: JudgedAttempt, failure: ApiFailure): RowVerdict {
    const { run, row } = attempt.task;
    log.debug({ run, row, code: failure.code }, 'row spared');
    onEvent({ type: 'returned', run, row });
    return returnUncharged(attempt, failure);
  }

  /** If the breaker has blamed the row at once, reports before the next row gets the seat, so that a guard can halt the run. */
  function reported({ task, answer }: JudgedAttempt, judgement: Judgement): RowVerdict {
    const { run, row } = task;
    const facts = () => ({
      run,
      row,
      operation: task.operation,
      duration_ms: Math.round(answer.durationMs),
    });
    switch (judgement.kind) {
      case 'finished': {
        const { outcome, code, attempts, unclear } = judgement.result;
        // Composing the log line of a finished row costs as much as the judgement.
        if (log.isLevelEnabled('debug'))
          log.debug({ ...facts(), outcome, code, attempts, unclear }, 'row finished');
        onEvent({ type: 'finished', run, row, result: judgement.result });
        return judgement;
      }
      case 'retry': {
        const code = judgement.history.lastCode ?? '';
        log.debug(
          { ...facts(), code, attempts: judgement.history.attempts, delay_ms: judgement.delayMs },
          'row waits',
        );
        onEvent({ type: 'retrying', run, row, code, delayMs: judgement.delayMs });
        return judgement;
      }
      case 'throttled':
        log.debug({ ...facts(), wait_ms: judgement.waitMs }, 'the API asks to slow down');
        onEvent({ type: 'throttled', run, row, waitMs: judgement.waitMs });
        return judgement;
      case 'returned':
        log.debug(facts(), 'row returned');
        onEvent({ type: 'returned', run, row });
        return judgement;
      case 'premature':
        log.debug(facts(), 'row waits for a success of its operation');
        onEvent({ type: 'returned', run, row });
        return { kind: 'returned', history: judgement.history, delayMs: prematureMs };
      case 'halted':
        log.error({ ...facts(), code: judgement.failure.code }, 'halted');
        onHalt(judgement.failure, task);
        return { kind: 'returned', history: judgement.history };
    }
  }
}

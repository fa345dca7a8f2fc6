import { join } from 'node:path';
import { whyUncheckable } from '../../operation/list-definition.ts';
import type { Operation } from '../../operation/operation.ts';
import type { NextStep, RowToSee, StepFacts } from '../../report/next-step.ts';
import { nextSteps } from '../../report/next-steps.ts';
import { correctFile } from '../../report/write-reports.ts';
import { actualState, endFactsOfRun, phaseOf, type RunRecord } from './record.ts';
import type { RunStore } from './store.ts';

/** What the rows of a run and its retries add to the record. */
export type ReportedFacts = Pick<StepFacts, 'outcomes' | 'unclear' | 'codes'> &
  Partial<Pick<StepFacts, 'undo' | 'check' | 'isPartOfOthers' | 'isCured' | 'unfinishedRetry'>>;

export function stepsOfRun(
  store: Pick<RunStore, 'operations' | 'folder' | 'completed'>,
  record: RunRecord,
  reported: ReportedFacts,
): readonly NextStep[] {
  const { id, states, plan } = record;
  const { rowToSee } = states.at(-1) ?? {};
  const called = plan.operations.map((name) => store.operations.find((operation) => operation.name === name));
  const state = actualState(record);
  const { baseUrl, rateGroup, allowInsecureHttp } = record.options;
  const needs = { baseUrl, rateGroup, allowInsecureHttp, lacksOperations: called.includes(undefined) };
  const steps = nextSteps({
    ...reported,
    id,
    submitted: record.submitted,
    state,
    phase: phaseOf(record),
    manner: endFactsOfRun(record)?.manner,
    rowToSee,
    mayBeDone: called.some((operation) => meansDone(operation, rowToSee)),
    // A process that died has written no report.
    correctFile: record.state === state ? join(store.folder(id), correctFile) : undefined,
    canCheck: called.length > 0 && called.every((operation) => whyUncheckable(operation?.list) === undefined),
  });
  return steps.map(({ text, command, ...step }) => ({
    ...step,
    text: store.completed(text, needs),
    ...(command !== undefined && { command: store.completed(command, needs) }),
  }));
}

/** Whether the failure of the row may mean that an earlier call made its change. */
function meansDone(operation: Operation | undefined, rowToSee: RowToSee | undefined): boolean {
  const failure = rowToSee?.failure;
  try {
    return failure !== undefined && operation?.meansAlreadyApplied(failure) === true;
  } catch {
    // An operation is code of its author. It must not keep a report from being written.
    return false;
  }
}

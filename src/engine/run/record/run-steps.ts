import { join } from 'node:path';
import { whyUncheckable } from '../../operation/list-definition.ts';
import { findOperation, type Operation } from '../../operation/operation.ts';
import type { NextStep, RowToSee, StepFacts } from '../../report/next-step.ts';
import { nextSteps, resumeCommand } from '../../report/next-steps.ts';
import { correctFile } from '../../report/write-reports.ts';
import { actualState, endFactsOfRun, phaseOf, type RunRecord } from './record.ts';
import type { RunNeeds, RunStore } from './store.ts';

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
  const called = plan.operations.map((name) => findOperation(store.operations, name));
  const state = actualState(record);
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
  const completed = (text: string): string => store.completed(text, needsOf(store, record));
  return steps.map(({ text, command, ...step }) => ({
    ...step,
    text: completed(text),
    ...(command !== undefined && { command: completed(command) }),
  }));
}

/** General advice, such as `Type "cqbatch retry".`, for this run. */
export function adviceOfRun(store: Completing, record: RunRecord, advice: string): string {
  const named = advice
    .replaceAll('"cqbatch resume"', `"${resumeCommand(record)}"`)
    .replaceAll(/"cqbatch retry(?: RUN)?(?=[" ])/g, `"cqbatch retry ${record.id}`);
  return store.completed(named, needsOf(store, record));
}

type Completing = Pick<RunStore, 'operations' | 'completed'>;

function needsOf({ operations }: Completing, { options, plan }: RunRecord): RunNeeds {
  const { baseUrl, rateGroup, allowInsecureHttp } = options;
  const lacksOperations = plan.operations.some((name) => findOperation(operations, name) === undefined);
  return { baseUrl, rateGroup, allowInsecureHttp, lacksOperations };
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

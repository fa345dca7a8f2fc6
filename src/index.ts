/** The library: what `docs/library.md`, `docs/operations.md` and `docs/api-client.md` describe, and nothing else. */

export { createTypedClient as createClient, type TypedClient } from '../jobs/client.ts';
export { type Evaluation, evaluationSchema } from '../jobs/evaluation.ts';
export { operations } from '../jobs/index.ts';
export { type RestoreEvaluationInput, restoreEvaluation } from '../jobs/restore-evaluation.ts';
export {
  type Soundboard,
  soundboardSchema,
  type UpdateSoundboardAnswer,
  type UpdateSoundboardInput,
  updateSoundboard,
} from '../jobs/update-soundboard.ts';
export { CqbatchError, type ErrorKind } from './base/errors/errors.ts';
export type { Log } from './base/log.ts';
export { stringifyJson } from './base/text/json.ts';
export type { FailureClass } from './domain/code-table.ts';
export type { Outcome, OutcomeCounts } from './domain/terms.ts';
export type {
  ApiAnswer,
  ApiClient,
  CallFigures,
  ClientOptions,
  SendOptions,
  Timeouts,
} from './engine/api/client.ts';
export { ApiError, type ApiFailure } from './engine/api/failure.ts';
export type { Int64Input } from './engine/api/int64.ts';
export type { LimitUnit, StatedLimit } from './engine/api/limits.ts';
export type { RequestObserver } from './engine/api/network/exchange.ts';
export type { ApiRequest } from './engine/api/request.ts';
export { tokenFromCommand } from './engine/api/token/from-command.ts';
export { tokenFromFile } from './engine/api/token/renewed-token.ts';
export { type TokenSource, tokenFromValue } from './engine/api/token/token.ts';
export {
  defineOperation,
  type Interpretation,
  type Operation,
  type OperationDefinition,
  type Refusal,
} from './engine/operation/operation.ts';
export type { OperationsModule } from './engine/operation/own-operations.ts';
export type { RequestDefinition } from './engine/operation/request-definition.ts';
export type { RunSummary } from './engine/report/summary.ts';
export type { ReportPaths } from './engine/report/write-reports.ts';
export type { RunResult } from './engine/run/record/ending.ts';
export type { RowEvent } from './engine/run/work/progress.ts';
export type { BatchOptions, BatchPlace, BatchSettings } from './library/place.ts';
export { type BatchPlan, type PlanBatchOptions, planBatch } from './library/plan-batch.ts';
export { type BatchRow, openRuns, results, type UnfinishedBatch } from './library/results.ts';
export { type BatchEvent, type BatchResult, type RunBatchOptions, runBatch } from './library/run-batch.ts';

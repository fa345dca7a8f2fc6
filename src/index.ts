/** Batches and the API client as a library: see `docs/library.md` and `docs/api-client.md`. */

export { operations } from '../jobs/index.ts';
export { restoreEvaluation } from '../jobs/restore-evaluation.ts';
export { updateSoundboard } from '../jobs/update-soundboard.ts';
export { type BaseUrlOptions, parseBaseUrl } from './api/base-url.ts';
export {
  type ApiAnswer,
  type ApiClient,
  type CallFigures,
  type ClientOptions,
  defaultTimeouts,
  type SendOptions,
  type Timeouts,
} from './api/client.ts';
export type { RestoreEvaluationInput } from './api/endpoints/restore-evaluation.ts';
export type { UpdateSoundboardAnswer, UpdateSoundboardInput } from './api/endpoints/update-soundboard.ts';
export { ApiError, type ApiFailure } from './api/failure.ts';
export type { Int64Input } from './api/int64.ts';
export type { LimitUnit, StatedLimit } from './api/limits.ts';
export {
  type AutoEvaluationQuestion,
  type CallMetadata,
  type CallType,
  type ChannelType,
  type ConversationMetadata,
  type CustomField,
  type Evaluation,
  type EvaluationAnswer,
  type EvaluationQuestion,
  type EvaluationSection,
  type EvaluationState,
  evaluationSchema,
  type FileType,
  type RiskLevel,
  type Soundboard,
  soundboardSchema,
} from './api/model/entities.ts';
export type { ApiRequest } from './api/request.ts';
export { type TokenSource, tokenFromFile, tokenFromValue } from './api/token.ts';
export { createTypedClient as createClient, type TypedClient } from './api/typed-client.ts';
export type { FailureClass } from './codes.ts';
export type { Outcome, OutcomeCounts, RowResult } from './domain.ts';
export { CqbatchError, type ErrorKind } from './errors.ts';
export type { BatchOptions, BatchPlace } from './library/place.ts';
export { type BatchPlan, type PlanBatchOptions, planBatch } from './library/plan-batch.ts';
export { type BatchRow, openRuns, results, type UnfinishedBatch } from './library/results.ts';
export { type BatchEvent, type BatchResult, type RunBatchOptions, runBatch } from './library/run-batch.ts';
export {
  defineOperation,
  type Interpretation,
  type Operation,
  type OperationDefinition,
  type Refusal,
  type RequestDefinition,
} from './operation/operation.ts';
export type { OperationsModule } from './operation/own-operations.ts';
export type { RunSummary } from './report/summary.ts';
export type { ReportPaths } from './report/write-reports.ts';
export type { RunResult } from './run/record/ending.ts';
export type { RunEvent } from './run/session/progress.ts';
export { parseJson, stringifyJson } from './text/json.ts';

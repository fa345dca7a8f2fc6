/**
 * The engine, for programs and for the command line. `docs/library.md`, `docs/api-client.md` and `docs/operations.md` describe
 * the part for programs; the rest is for the command line, and may change with any release.
 */

export { operations } from '../jobs/index.ts';
export { restoreEvaluation } from '../jobs/restore-evaluation.ts';
export { updateSoundboard } from '../jobs/update-soundboard.ts';
export { type BaseUrlOptions, isLoopback, parseBaseUrl } from './api/base-url.ts';
export type {
  ApiAnswer,
  ApiClient,
  CallFigures,
  ClientOptions,
  SendOptions,
  Timeouts,
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
export type { RequestObserver } from './api/network/exchange.ts';
export { chooseProxy, describeProxy } from './api/network/proxy.ts';
export { openClient } from './api/open-client.ts';
export { type ApiRequest, requestHeaders } from './api/request.ts';
export { type TokenSource, tokenFromFile, tokenFromValue, tokenMark } from './api/token.ts';
export { createTypedClient as createClient, type TypedClient } from './api/typed-client.ts';
export { openWebhook, signatureHeaders, type Webhook } from './api/webhook.ts';
export { createFile, exists, makeFolder, readSmallFile } from './base/disk/files.ts';
export { hashFile } from './base/disk/hash-file.ts';
export { withTemporaryFolder } from './base/disk/owned-folder.ts';
export { CqbatchError, type ErrorKind } from './base/errors/errors.ts';
export { stringifyJson } from './base/text/json.ts';
export { type Cluster, openCluster } from './cluster/cluster.ts';
export { actualEntryState, goneAfterMs, isActive, isPresent, type RunEntry } from './cluster/entries.ts';
export { type RatePolicy, toHundredths } from './cluster/rate-policy.ts';
export type { SharedPlace } from './dashboard/overview.ts';
export { startDashboard } from './dashboard/server.ts';
export type { Datastore } from './datastore/datastore.ts';
export {
  datastoreAddress,
  openDatastore,
  type PreparedDatastore,
  prepareEmbedded,
} from './datastore/open.ts';
export { watchRefusals } from './datastore/refusals.ts';
export type { FailureClass } from './domain/codes.ts';
export type { ConflictRule, Outcome, OutcomeCounts, RowResult } from './domain/terms.ts';
export { type HealthState, startHealthServer } from './http/health.ts';
export type { ClaimedManifest, ManifestEnding } from './inbox/claimed-manifest.ts';
export { Inbox, type Taking } from './inbox/inbox.ts';
export { findInbox } from './inbox/names.ts';
export type { FinalFolder } from './inbox/records.ts';
export type { Journal } from './journal/journal.ts';
export type { CodeCount } from './journal/state.ts';
export { type BatchOptions, type BatchPlace, lookUpRun } from './library/place.ts';
export { type BatchPlan, type PlanBatchOptions, planBatch } from './library/plan-batch.ts';
export { type BatchRow, openRuns, results, type UnfinishedBatch } from './library/results.ts';
export { type BatchEvent, type BatchResult, type RunBatchOptions, runBatch } from './library/run-batch.ts';
export type { ScanSummary } from './manifest/check/scan.ts';
export type { OperationChoice } from './manifest/columns/operation-choice.ts';
export type { Manifest, ReadingOptions } from './manifest/manifest.ts';
export { type InputOptions, stageManifest } from './manifest/stage.ts';
export { inputKind } from './manifest/text/source.ts';
export type { Metrics } from './metrics/metrics.ts';
export { openDaemonMetrics, openMetricsFile } from './metrics/metrics-file.ts';
export { isOldName } from './operation/field-names.ts';
export {
  defineOperation,
  findOperation,
  type Interpretation,
  type Operation,
  type OperationDefinition,
  type Refusal,
  type RequestDefinition,
} from './operation/operation.ts';
export { loadOperations, type OperationsModule } from './operation/own-operations.ts';
export { mostConcurrency } from './rate/rate-controller.ts';
export type { RatePoint } from './report/rate-history.ts';
export type { RunSummary } from './report/summary.ts';
export type { ReportPaths, WrittenReports } from './report/write-reports.ts';
export { excerpt, formatProblem, type ProblemGroup } from './rows/problem.ts';
export type { CallableRow, PlannedRow } from './rows/row.ts';
export { type FieldCounts, type OperationSummary, type RowCounts, subjectsOf } from './rows/row-counts.ts';
export { cancelSettledRun, cancelStoppedRun, settleDeadRun } from './run/feed/stopped-runs.ts';
export { writeApproval } from './run/plan/approval-files.ts';
export { approverHere } from './run/plan/approval-text.ts';
export {
  type ApprovalPolicy,
  approvePlan,
  type CountedApproval,
  judgeApprovals,
  needsApproval,
  requireApprovals,
  validAmong,
} from './run/plan/approvals.ts';
export { type CheckedManifest, checkManifest } from './run/plan/check-manifest.ts';
export { refuseUsedPlan } from './run/plan/claimed-plan.ts';
export {
  type Asker,
  beginRun,
  type CreatedRun,
  type CreateRunInput,
  discard,
  type ManifestOrigin,
  planStaged,
} from './run/plan/create-run.ts';
export type { DerivedRowsInput } from './run/plan/derived-rows.ts';
export { type EarlierRun, findEarlierRun } from './run/plan/earlier-runs.ts';
export { keepApprovals, requireKeptApprovals } from './run/plan/kept-plan.ts';
export type { RowOptions } from './run/plan/open-manifest.ts';
export {
  type ApprovedPlan,
  planSuffix,
  type ReadPlan,
  readPlanFile,
  writePlanFile,
} from './run/plan/plan-file.ts';
export type { PlannedRows } from './run/plan/planned-rows.ts';
export type { ProblemList } from './run/plan/problem-file.ts';
export {
  isReady,
  type ReadyRows,
  readyRows,
  refusalOf,
  refusals,
  verdictText,
} from './run/plan/readiness.ts';
export { findRetries, retriesAfter, retriesAmong, undosOf, unfinishedAmong } from './run/plan/retries.ts';
export { hasRowsToRetry, type RetryRows, writeRetryRows } from './run/plan/retry-run.ts';
export { rowsOn, type UndoRows, writeUndoRows } from './run/plan/undo-run.ts';
export { type RunProof, verifyRun } from './run/proof/verify-run.ts';
export { allRuns, lookAtCluster } from './run/record/all-runs.ts';
export { nextTimeOfDay } from './run/record/budget.ts';
export { differingOptions } from './run/record/differing-options.ts';
export { type KnownEnd, type RunResult, resultOf } from './run/record/ending.ts';
export { lockRun } from './run/record/open-run.ts';
export { awaitedRuns, prunable, removeRuns, sizeOf } from './run/record/prune.ts';
export {
  actualState,
  endOf,
  enterState,
  goesOnByItself,
  isHaltedByGuard,
  isOver,
  isResumable,
  plannedAt,
  priorityOf,
  type RunOptions,
  type RunRecord,
  type RunState,
  resumeCommand,
  runStates,
  withoutPlace,
} from './run/record/record.ts';
export { contentRunId, idsMeantBy } from './run/record/run-id.ts';
export {
  type JournalSummary,
  progressOf,
  readJournalSummary,
} from './run/record/run-journal.ts';
export { openRunRows, refuseChangedRows, rowsFile } from './run/record/run-rows.ts';
export {
  delayOf,
  liveRun,
  type RunView,
  unservedText,
  viewOfEntry,
  viewOfRecord,
} from './run/record/run-view.ts';
export { checkStateFolder } from './run/record/state-folder.ts';
export { ambiguousRun, openRunStore, type RunStore } from './run/record/store.ts';
export { reprioritizeWaiting } from './run/record/waiting-run.ts';
export {
  delimiterOf,
  type ReportOptions,
  reportWithRetries,
  rewriteReport,
} from './run/report/report-run.ts';
export { type RowStory, type RunOfRow, tellRow } from './run/report/row-story.ts';
export type { CanaryResults } from './run/session/canary.ts';
export { type ControlPlace, inCluster, inFolder, type Wanted } from './run/session/control.ts';
export { type CoordinateOptions, coordinateRuns, type RunNews } from './run/session/coordinate.ts';
export { type EstimatedLimits, openEstimatedLimits } from './run/session/estimated-limits.ts';
export type { ExecutedRun, FailedRun, StartedRun } from './run/session/execution-options.ts';
export { loadExecution } from './run/session/load-execution.ts';
export type { ProgressSnapshot, RunEvent, StalledCalls } from './run/session/progress.ts';
export { type Beginning, carryOutSchedules } from './schedule/carry-out.ts';
export {
  goingScheduledRun,
  type HistoryEntry,
  type Occasion,
  overlapRules,
  runIdFor,
  type Schedule,
  type ScheduleState,
  type Trigger,
} from './schedule/schedule.ts';
export { openScheduleStore, type ScheduleStore } from './schedule/store.ts';
export { nextTimes, timesOf } from './schedule/times.ts';
export { orNone, parseChoice, parseInteger, parseLongDuration, parseRate } from './settings/parsers.ts';
export {
  approvalPolicy,
  budgetOf,
  callOptions,
  canaryOptions,
  changedOptions,
  givenRowOptions,
  groupOption,
  newRunOptions,
  rowOptions,
  savingOptions,
} from './settings/run-options.ts';
export {
  type CommandOption,
  collected,
  defaultStateDir,
  defaults,
  type FlagName,
  flagOf,
  isSetting,
  nameInWords,
  optionInWords,
  type RawSettings,
  resolveSettings,
  type SettingName,
  type Settings,
  saysNothing,
  setsOption,
  settingHelp,
  settingNeeds,
  settingWords,
  variableOf,
} from './settings/settings.ts';
export { type Serving, serveRows } from './worker/serve.ts';

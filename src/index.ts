/**
 * The engine, for programs and for the command line. `docs/library.md`, `docs/api-client.md` and `docs/operations.md` describe
 * the part for programs; the rest is for the command line, and may change with any release.
 */

export { operations } from '../jobs/index.ts';
export { restoreEvaluation } from '../jobs/restore-evaluation.ts';
export { updateSoundboard } from '../jobs/update-soundboard.ts';
export { createFile, exists, makeFolder, readSmallFile } from './base/disk/files.ts';
export { hashFile } from './base/disk/hash-file.ts';
export { withTemporaryFolder } from './base/disk/owned-folder.ts';
export { CqbatchError, type ErrorKind } from './base/errors/errors.ts';
export { stringifyJson } from './base/text/json.ts';
export { type HealthState, startHealthServer } from './daemon/health.ts';
export type { ClaimedManifest, ManifestEnding } from './daemon/inbox/claimed-manifest.ts';
export { Inbox, type Taking } from './daemon/inbox/inbox.ts';
export { findInbox } from './daemon/inbox/names.ts';
export type { FinalFolder } from './daemon/inbox/records.ts';
export type { Metrics } from './daemon/metrics/metrics.ts';
export { openDaemonMetrics, openMetricsFile } from './daemon/metrics/metrics-file.ts';
export { type Beginning, carryOutSchedules } from './daemon/schedule/carry-out.ts';
export {
  goingScheduledRun,
  type HistoryEntry,
  type Occasion,
  overlapRules,
  runIdFor,
  type Schedule,
  type ScheduleState,
  type Trigger,
} from './daemon/schedule/schedule.ts';
export { openScheduleStore, type ScheduleStore } from './daemon/schedule/store.ts';
export { nextTimes, timesOf } from './daemon/schedule/times.ts';
export type { FailureClass } from './domain/codes.ts';
export type { ConflictRule, Outcome, OutcomeCounts, RowResult } from './domain/terms.ts';
export { type BaseUrlOptions, isLoopback, parseBaseUrl } from './engine/api/base-url.ts';
export type {
  ApiAnswer,
  ApiClient,
  CallFigures,
  ClientOptions,
  SendOptions,
  Timeouts,
} from './engine/api/client.ts';
export type { RestoreEvaluationInput } from './engine/api/endpoints/restore-evaluation.ts';
export type {
  UpdateSoundboardAnswer,
  UpdateSoundboardInput,
} from './engine/api/endpoints/update-soundboard.ts';
export { ApiError, type ApiFailure } from './engine/api/failure.ts';
export type { Int64Input } from './engine/api/int64.ts';
export type { LimitUnit, StatedLimit } from './engine/api/limits.ts';
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
} from './engine/api/model/entities.ts';
export type { RequestObserver } from './engine/api/network/exchange.ts';
export { chooseProxy, describeProxy } from './engine/api/network/proxy.ts';
export { type ApiRequest, requestHeaders } from './engine/api/request.ts';
export { type TokenSource, tokenFromFile, tokenFromValue, tokenMark } from './engine/api/token.ts';
export { createTypedClient as createClient, type TypedClient } from './engine/api/typed-client.ts';
export { openWebhook, signatureHeaders, type Webhook } from './engine/api/webhook.ts';
export { type Cluster, openCluster } from './engine/cluster/cluster.ts';
export {
  actualEntryState,
  goneAfterMs,
  isActive,
  isPresent,
  type RunEntry,
} from './engine/cluster/entries.ts';
export { type RatePolicy, toHundredths } from './engine/cluster/rate-policy.ts';
export type { Datastore } from './engine/datastore/datastore.ts';
export {
  datastoreAddress,
  openDatastore,
  type PreparedDatastore,
  prepareEmbedded,
} from './engine/datastore/open.ts';
export { watchRefusals } from './engine/datastore/refusals.ts';
export type { Journal } from './engine/journal/journal.ts';
export type { CodeCount } from './engine/journal/state.ts';
export type { ScanSummary } from './engine/manifest/check/scan.ts';
export type { OperationChoice } from './engine/manifest/columns/operation-choice.ts';
export type { Manifest, ReadingOptions } from './engine/manifest/manifest.ts';
export { type InputOptions, stageManifest } from './engine/manifest/stage.ts';
export { inputKind } from './engine/manifest/text/source.ts';
export { isOldName } from './engine/operation/field-names.ts';
export {
  defineOperation,
  findOperation,
  type Interpretation,
  type Operation,
  type OperationDefinition,
  type Refusal,
  type RequestDefinition,
} from './engine/operation/operation.ts';
export { loadOperations, type OperationsModule } from './engine/operation/own-operations.ts';
export { mostConcurrency } from './engine/rate/rate-controller.ts';
export type { RatePoint } from './engine/report/rate-history.ts';
export type { RunSummary } from './engine/report/summary.ts';
export type { ReportPaths, WrittenReports } from './engine/report/write-reports.ts';
export { excerpt, formatProblem, type ProblemGroup } from './engine/rows/problem.ts';
export type { CallableRow, PlannedRow } from './engine/rows/row.ts';
export {
  type FieldCounts,
  type OperationSummary,
  type RowCounts,
  subjectsOf,
} from './engine/rows/row-counts.ts';
export { cancelSettledRun, cancelStoppedRun, settleDeadRun } from './engine/run/feed/reconcile.ts';
export { writeApproval } from './engine/run/plan/approval-files.ts';
export { approverHere } from './engine/run/plan/approval-text.ts';
export {
  type ApprovalPolicy,
  approvePlan,
  type CountedApproval,
  judgeApprovals,
  needsApproval,
  requireApprovals,
  validAmong,
} from './engine/run/plan/approvals.ts';
export { type CheckedManifest, checkManifest } from './engine/run/plan/check-manifest.ts';
export {
  type Asker,
  beginRun,
  type CreatedRun,
  type CreateRunInput,
  discard,
  type ManifestOrigin,
  planStaged,
} from './engine/run/plan/create-run.ts';
export type { DerivedRowsInput } from './engine/run/plan/derived-rows.ts';
export { type EarlierRun, findEarlierRun } from './engine/run/plan/earlier-runs.ts';
export type { RowOptions } from './engine/run/plan/open-manifest.ts';
export { refuseUsedPlan } from './engine/run/plan/plan-claim.ts';
export {
  type ApprovedPlan,
  planSuffix,
  type ReadPlan,
  readPlanFile,
  writePlanFile,
} from './engine/run/plan/plan-file.ts';
export { keepApprovals, requireKeptApprovals } from './engine/run/plan/plan-of-run.ts';
export type { PlannedRows } from './engine/run/plan/planned-rows.ts';
export type { ProblemList } from './engine/run/plan/problem-file.ts';
export {
  isReady,
  type ReadyRows,
  readyRows,
  refusalOf,
  refusals,
  verdictText,
} from './engine/run/plan/readiness.ts';
export {
  findRetries,
  retriesAfter,
  retriesAmong,
  undosOf,
  unfinishedAmong,
} from './engine/run/plan/retries.ts';
export { hasRowsToRetry, type RetryRows, writeRetryRows } from './engine/run/plan/retry-run.ts';
export { rowsOn, type UndoRows, writeUndoRows } from './engine/run/plan/undo-run.ts';
export { type RunProof, verifyRun } from './engine/run/proof/verify-run.ts';
export { allRuns, lookAtCluster } from './engine/run/record/all-runs.ts';
export { nextTimeOfDay } from './engine/run/record/budget.ts';
export { differingOptions } from './engine/run/record/differing-options.ts';
export { lockRun } from './engine/run/record/open-run.ts';
export { awaitedRuns, prunable, removeRuns, sizeOf } from './engine/run/record/prune.ts';
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
} from './engine/run/record/record.ts';
export { contentRunId, idsMeantBy } from './engine/run/record/run-id.ts';
export {
  type JournalSummary,
  progressOf,
  readJournalSummary,
} from './engine/run/record/run-journal.ts';
export { type KnownEnd, type RunResult, resultOf } from './engine/run/record/run-outcome.ts';
export { openRunRows, refuseChangedRows, rowsFile } from './engine/run/record/run-rows.ts';
export {
  delayOf,
  liveRun,
  type RunView,
  unservedText,
  viewOfEntry,
  viewOfRecord,
} from './engine/run/record/run-view.ts';
export { checkStateFolder } from './engine/run/record/state-folder.ts';
export { ambiguousRun, openRunStore, type RunStore } from './engine/run/record/store.ts';
export { reprioritizeWaiting } from './engine/run/record/waiting-run.ts';
export {
  delimiterOf,
  type ReportOptions,
  reportWithRetries,
  rewriteReport,
} from './engine/run/report/report-run.ts';
export { type RowStory, type RunOfRow, tellRow } from './engine/run/report/row-history.ts';
export type { CanaryResults } from './engine/run/session/canary.ts';
export { type ControlPlace, inCluster, inFolder, type Wanted } from './engine/run/session/control.ts';
export { type CoordinateOptions, coordinateRuns, type RunNews } from './engine/run/session/coordinate.ts';
export { type EstimatedLimits, openEstimatedLimits } from './engine/run/session/estimated-limits.ts';
export type { ExecutedRun, FailedRun, StartedRun } from './engine/run/session/execution-options.ts';
export type { ProgressSnapshot, RunEvent, StalledCalls } from './engine/run/session/progress.ts';
export { type Serving, serveRows } from './engine/worker/serve.ts';
export { type BatchOptions, type BatchPlace, lookUpRun } from './library/place.ts';
export { type BatchPlan, type PlanBatchOptions, planBatch } from './library/plan-batch.ts';
export { type BatchRow, openRuns, results, type UnfinishedBatch } from './library/results.ts';
export { type BatchEvent, type BatchResult, type RunBatchOptions, runBatch } from './library/run-batch.ts';
export type { SharedPlace } from './pages/server/overview.ts';
export { startDashboard } from './pages/server/server.ts';
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

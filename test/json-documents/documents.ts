import type { z } from 'zod';
import {
  actor,
  codeCounts,
  declined,
  failure,
  interrupted,
  outcomeCounts,
  processOnHost,
  runInState,
  runState,
  time,
} from './parts.ts';
import { audit, rowStory, runProof, unprovedRun } from './past.ts';
import { approved, plan, planOfCommand, refusedPlan } from './plan.ts';
import * as runs from './runs.ts';
import * as schedules from './schedules.ts';
import * as services from './services.ts';

/** What each command prints with `--json` if it does not fail: one of these documents. */
export const documentsOf: Readonly<Record<string, readonly [z.ZodType, ...z.ZodType[]]>> = {
  plan: [planOfCommand, interrupted],
  approve: [approved, declined, interrupted],
  run: [runs.report, runs.knownRun, refusedPlan, declined, interrupted],
  resume: [runs.report, interrupted],
  retry: [runs.report, planOfCommand, declined, interrupted],
  undo: [runs.report, planOfCommand, runs.nothingToUndo, declined, interrupted],
  submit: [runs.submitted, refusedPlan, declined, interrupted],
  status: [runs.status, runs.statuses],
  show: [audit, rowStory],
  list: [runs.runList],
  report: [runs.report],
  verify: [runProof, unprovedRun],
  dashboard: [services.dashboardAddress],
  pause: [runInState],
  unpause: [runInState],
  cancel: [runs.report, runInState, runs.declinedForRun, interrupted],
  'set-rate': [runs.rateSet],
  'set-priority': [runs.prioritySet],
  watch: [services.inboxManifest, services.inboxManifests, declined, interrupted],
  'schedule add': [schedules.schedule],
  'schedule list': [schedules.scheduleList],
  'schedule show': [schedules.schedule],
  'schedule history': [schedules.scheduleHistory],
  'schedule pause': [schedules.schedule],
  'schedule unpause': [schedules.schedule],
  'schedule trigger': [schedules.scheduleTriggered],
  'schedule remove': [schedules.scheduleRemoved, interrupted],
  worker: [services.workerStopped],
  prune: [services.pruned, interrupted],
  init: [services.initialized],
  doctor: [services.findings],
  version: [services.version],
  completion: [services.completion],
  sandbox: [services.sandboxAddress],
};

/** What several documents have in common, by its name in the published file. */
export const sharedParts: Readonly<Record<string, z.ZodType>> = {
  Actor: actor,
  CodeCounts: codeCounts,
  Declined: declined,
  Failure: failure,
  Interrupted: interrupted,
  OutcomeCounts: outcomeCounts,
  Plan: plan,
  Process: processOnHost,
  RefusedPlan: refusedPlan,
  Report: runs.report,
  RunInState: runInState,
  RunState: runState,
  Schedule: schedules.schedule,
  Status: runs.status,
  Time: time,
};

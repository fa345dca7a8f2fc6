import { z } from 'zod';
import { type Attribution, attributionSchema } from '../../actor.ts';
import { countsSchema, isActive } from '../../cluster/entries.ts';
import { ratePolicySchema } from '../../cluster/rate-policy.ts';
import { processSchema, stateOfProcess, thisProcess } from '../../disk/process.ts';
import { conflictRules } from '../../manifest/check/call-index.ts';
import { delimiters } from '../../manifest/manifest.ts';
import type { WhyUnfinished } from '../../report/join-results.ts';
import { budgetSchema, startedBudgetSchema } from './budget.ts';
import { type EndCause, endCauses, type KnownEnd } from './ending.ts';
import { failureLimitsSchema } from './guards.ts';

/**
 * `run.json`: what a run is and where it stands. States:
 *
 * ```
 * planned ──┬──────────▶ running ──▶ completed     every row has its result
 *           └─▶ submitted ─┘  │                    submitted: waits for a coordinator that sees the state folder
 *                             ├──▶ paused          until a user unpauses it: back to running
 *                             ├──▶ interrupted     stopped by the user or a budget, or its process died: resume goes on
 *                             ├──▶ halted          too many failures, or no row can succeed: resume goes on
 *                             ├──▶ failed          datastore or disk failed: resume goes on
 *                             └──▶ cancelled       given up for good; rows without a result stay so
 * ```
 */
export const runStates = [
  'planned',
  'submitted',
  'running',
  'paused',
  'completed',
  'interrupted',
  'halted',
  'failed',
  'cancelled',
] as const;

export type RunState = (typeof runStates)[number];

/** Which rows are called before all others. */
const canaryOptionsSchema = z.object({
  rows: z.number().int().min(1),
  /** Whether they are a fair sample; else they are the first ones. */
  random: z.boolean().exactOptional(),
  /** Where the user is not asked, the run goes on if no more of them have failed. */
  maxFailures: z.number().int().min(0),
});

export const runOptionsSchema = z.object({
  /** Normalised base URL of the API. */
  baseUrl: z.string(),
  /** Whether the user allowed `http:` to another host; `resume` and `retry` go by it. */
  allowInsecureHttp: z.boolean().exactOptional(),
  /** `--operation`; absent when rows, manifest or columns say it. */
  operation: z.string().exactOptional(),
  /** `--where`: what the cells of a row must say, or it is left out as if it were not in the manifest. */
  where: z.array(z.string()).exactOptional(),
  /** `--default`: fields and their values in rows that leave them out. */
  default: z.record(z.string(), z.string()).exactOptional(),
  clearToken: z.string(),
  /** What separates the cells of its CSV files; absent: as in the manifest. */
  delimiter: z.enum(delimiters).exactOptional(),
  /** `--map`: titles of columns and the fields that they stand for. */
  map: z.record(z.string(), z.string()).exactOptional(),
  /** How the manifest is written, as far as the user said it; see `ReadingOptions`. */
  encoding: z.string().exactOptional(),
  skipLines: z.number().int().min(0).exactOptional(),
  rowsAt: z.string().exactOptional(),
  sheet: z.string().exactOptional(),
  trim: z.boolean().exactOptional(),
  /** What is done with rows that conflict. Absent in records of older versions: they are called in any order. */
  onConflict: z.enum(conflictRules).exactOptional(),
  /** Runs and reports that say which rows need not be done again. */
  skipDone: z.array(z.string()).exactOptional(),
  /** Calls in flight at once. */
  concurrency: z.union([z.number().int().min(1), z.literal('auto')]),
  /** How fast the API may be called; absent: as fast as can be. */
  rate: ratePolicySchema.exactOptional(),
  attempts: z.number().int().min(1),
  /** Whether each answer of the API is kept in the run's folder. */
  saveResponses: z.literal(true).exactOptional(),
  /** Absent: its report has a page. */
  html: z.literal(false).exactOptional(),
  /** Total time-out of one request, milliseconds. */
  timeoutMs: z.number().int().min(1),
  /** Upper bound of the pause after a row's first failed attempt, milliseconds. */
  backoffMs: z.number().int().min(0),
  ...failureLimitsSchema.shape,
  canary: canaryOptionsSchema.exactOptional(),
  /** How long an outage of the API is waited for, milliseconds; absent: without end. */
  maxOutageMs: z.number().int().min(1).exactOptional(),
});

export type CanaryOptions = Readonly<z.infer<typeof canaryOptionsSchema>>;

export type RunOptions = z.infer<typeof runOptionsSchema>;

const manifestSchema = z.object({
  /** What the user called it. */
  name: z.string(),
  /** The run's own copy, inside its folder. */
  file: z.string(),
  sha256: z.string(),
  /** Of a retry: that of the manifest which the user gave. */
  givenSha256: z.string().exactOptional(),
  bytes: z.number(),
  /** Absent where cells are not separated by one. */
  delimiter: z.enum(delimiters).exactOptional(),
});

const planSchema = z.object({
  rows: z.number(),
  callable: z.number(),
  invalid: z.number(),
  duplicates: z.number(),
  /** Callable rows with an earlier callable row of the same subject; absent in records of older versions. */
  conflicts: z.number().exactOptional(),
  /** Rows to be called that leave fields out. */
  partial: z.number().default(0),
  columns: z.array(z.string()),
  /** Rows of the manifest that `--where` has left out, and that count nowhere else. */
  leftOut: z.number().exactOptional(),
  /** Operations that occur in the manifest. */
  operations: z.array(z.string()),
});

const stateEntrySchema = z.object({
  state: z.enum(runStates),
  /** When it was entered, ISO 8601 UTC. */
  at: z.string(),
  /** The user who wanted it, as far as is known; absent where the reason is the program's own. */
  by: attributionSchema.shape.by,
  /** Why: what a user has said with `--reason`, or what has happened. */
  reason: z.string().exactOptional(),
  /** Of `halted`, and of `interrupted` where its budget is used up. */
  because: z.enum(endCauses).exactOptional(),
  /** Of `running`: for how long it was worked on, milliseconds by a clock that never jumps. */
  atWorkMs: z.number().exactOptional(),
  /** While it lasts, and if the process died: for how long it was when that was written down last. */
  notedMs: z.number().exactOptional(),
});

export const runRecordSchema = z.object({
  version: z.literal(1),
  id: z.string(),
  state: z.enum(runStates),
  /** Every state that it was in, in order. */
  states: z.array(stateEntrySchema),
  manifest: manifestSchema,
  plan: planSchema,
  options: runOptionsSchema,
  /** Rows by outcome when the run was last left in order. */
  counts: countsSchema.exactOptional(),
  /** The process that works on the run, or did last. */
  process: processSchema.exactOptional(),
  /** Drawn when the run was made: tells it from another one of the same id on a shared datastore. */
  key: z.string().exactOptional(),
  /** Whether any coordinator may work on it, also after the first one has died. */
  submitted: z.boolean().exactOptional(),
  /** Each rate that was set while it was in progress. */
  rates: z.array(z.object({ rate: z.string(), at: z.string(), ...attributionSchema.shape })).exactOptional(),
  /** Of a submitted run: how much of it is done before it waits to be resumed, and what that comes to. */
  budget: budgetSchema.extend({ begun: startedBudgetSchema.exactOptional() }).exactOptional(),
  /** The shared datastore it was last worked on with, without a password; absent for the embedded one. */
  queue: z.string().exactOptional(),
  /** The signed-off plan that it carries out. */
  approval: z
    .object({ file: z.string(), sha256: z.string(), madeAt: z.string(), by: z.string().exactOptional() })
    .exactOptional(),
  /** The run some of whose rows this one repeats. */
  retryOf: z.string().exactOptional(),
  /** The run whose edits this one takes back. */
  undoOf: z.string().exactOptional(),
  /** What became of its canary, at a time in ISO 8601 UTC; absent: it has not been evaluated. */
  canary: z
    .object({ at: z.string(), rows: z.number(), failed: z.number(), wentOn: z.boolean() })
    .exactOptional(),
  /** The file in its folder with the rows' numbers in the manifest that the user gave. */
  rowNumbers: z.string().exactOptional(),
  /** A file, by its absolute path, that is made when the manifest of the run is put away; until then the run is kept. */
  keepUntil: z.string().exactOptional(),
});

export type RunRecord = z.infer<typeof runRecordSchema>;

/** The user who wanted a state, and the reason. */
export interface StateCause extends Attribution {
  readonly because?: EndCause;
}

/** A state that is entered now. */
export function stateEntry(state: RunState, cause?: StateCause): RunRecord['states'][number] {
  return { state, at: new Date().toISOString(), ...cause };
}

/** When a run was planned, ISO 8601 UTC. */
export function plannedAt({ states }: RunRecord): string {
  return states[0]?.at ?? '';
}

/** The state of a run, and why it ended. */
export function endOf({ state, states }: Pick<RunRecord, 'state' | 'states'>): KnownEnd {
  return { state, because: states.at(-1)?.because };
}

/** Whether a guard has halted a run: only a user resumes it. */
export function isHaltedByGuard(record: Pick<RunRecord, 'state' | 'states'>): boolean {
  const { state, because } = endOf(record);
  return state === 'halted' && because !== 'stuck';
}

/** The record in a new state. */
export function enterState(record: RunRecord, state: RunState, cause?: StateCause): RunRecord {
  const entered = { ...record, state, states: [...record.states, stateEntry(state, cause)] };
  if (state !== 'running' && state !== 'paused') return entered;
  return { ...entered, process: thisProcess() };
}

/** The state as it really is: a run whose process died is interrupted, whatever its record says. */
export function actualState(record: RunRecord): RunState {
  if (record.state !== 'running' && record.state !== 'paused') return record.state;
  const worker = record.process;
  if (worker === undefined) return 'interrupted';
  // Another machine's processes can't be seen from here; its run is believed.
  return stateOfProcess(worker) === 'dead' ? 'interrupted' : record.state;
}

/** Whether no row of it will be called any more, also not by `resume`. */
export function isOver(record: RunRecord): boolean {
  return ['completed', 'cancelled'].includes(actualState(record));
}

/** Whether rows without a result will be called without a `resume`: at the latest when the run is unpaused. */
export function goesOnByItself(record: RunRecord): boolean {
  if (record.state === 'submitted' || isActive(actualState(record))) return true;
  // Its coordinator has died: another one takes over.
  return record.submitted === true && isActive(record.state);
}

/** Why rows of the run may be without a result. */
export function unfinishedBecause(record: RunRecord): WhyUnfinished {
  if (goesOnByItself(record)) return 'pending';
  return record.state === 'cancelled' || record.state === 'halted' ? record.state : 'interrupted';
}

/** Whether `resume` can go on with a run in this state. */
export function isResumable(state: RunState): boolean {
  return ['planned', 'submitted', 'interrupted', 'halted', 'failed'].includes(state);
}

/** The record without what the session before has left: where it was worked on, and how much of it was to be done. */
export function withoutPlace({ queue: _, budget: __, ...record }: RunRecord): RunRecord {
  return record;
}

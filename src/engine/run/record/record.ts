import { z } from 'zod';
import { processSchema, stateOfProcess, thisProcess } from '../../../base/disk/process.ts';
import { delimiters } from '../../../base/text/delimiter.ts';
import { type Attribution, attributionSchema } from '../../../domain/actor.ts';
import { nameSchema } from '../../../domain/name-schema.ts';
import { rateGroupNames, runIds } from '../../../domain/names.ts';
import { conflictRules, type Priority, priorities, usualPriority } from '../../../domain/terms.ts';
import { type ControlOf, countsSchema, isActive } from '../../cluster/entries.ts';
import { ratePolicySchema } from '../../cluster/rate-policy.ts';
import type { WhyUnfinished } from '../../report/join-results.ts';
import type { RowToSee, RunPhase } from '../../report/next-step.ts';
import { budgetSchema, startedBudgetSchema } from './budget.ts';
import {
  type EndFacts,
  endFactsOf,
  isFinalState,
  type KeptCause,
  keptCauses,
  type StoredEnd,
} from './ending.ts';
import { guardOptionsSchema } from './guards/guard.ts';

/**
 * States of a run in `run.json`:
 *
 * ```
 * planned ──┬──────────▶ running ──▶ completed     every row has its result
 *           └─▶ submitted ─┘  │                    submitted: waits for a coordinator that sees the state folder
 *                             ├──▶ paused          until a user unpauses it: back to running
 *                             ├──▶ interrupted     stopped by the user or a budget, or its process died: can be resumed
 *                             ├──▶ halted          too many failures, or no row can succeed: can be resumed
 *                             ├──▶ failed          datastore or disk failed: can be resumed
 *                             └──▶ cancelled       for good; rows without a result stay so
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

export const runOptionsSchema = z.object({
  /** The base URL of the API, normalized. */
  baseUrl: z.string(),
  /** The rate group of the run. Absent: all callers of the API share one rate. */
  rateGroup: nameSchema(rateGroupNames).exactOptional(),
  /** Allows `http:` to another host, also for `resume` and `retry`. */
  allowInsecureHttp: z.boolean().exactOptional(),
  /** The delimiter of reports. Absent: as in the manifest. */
  delimiter: z.enum(delimiters).exactOptional(),
  onConflict: z.enum(conflictRules),
  concurrency: z.union([z.number().int().min(1), z.literal('auto')]),
  /** The user's limit of the rate. Absent: as fast as possible. */
  rate: ratePolicySchema.exactOptional(),
  /** The priority of the run. Absent in older records: `normal`. */
  priority: z.enum(priorities).exactOptional(),
  attempts: z.number().int().min(1),
  saveResponses: z.literal(true).exactOptional(),
  /** Whether the report includes a page. Absent: a page is included. */
  html: z.literal(false).exactOptional(),
  /** The longest time for one request. */
  timeoutMs: z.number().int().min(1),
  /** Upper bound of the pause after a row's first failed attempt. */
  backoffMs: z.number().int().min(0),
  ...guardOptionsSchema.shape,
  /** The longest outage of the API before the run halts. Absent: forever. */
  maxOutageMs: z.number().int().min(1).exactOptional(),
});

export type RunOptions = z.infer<typeof runOptionsSchema>;

const manifestSchema = z.object({
  name: z.string(),
  sha256: z.string(),
  bytes: z.number(),
  delimiter: z.enum(delimiters).exactOptional(),
});

const planSchema = z.object({
  rows: z.number(),
  callable: z.number(),
  invalid: z.number(),
  duplicates: z.number(),
  superseded: z.number(),
  doneBefore: z.number(),
  asWanted: z.number(),
  conflicts: z.number(),
  partial: z.number(),
  /** Rows that `--where` left out. They are not included in `rows`. */
  leftOut: z.number().exactOptional(),
  operations: z.array(z.string()),
  skipDone: z.array(z.string()).exactOptional(),
});

const stateEntrySchema = z.object({
  state: z.enum(runStates),
  /** When the run entered the state, in ISO 8601 UTC. */
  at: z.string(),
  /** The user that requested the state. Absent when the program itself requested it. */
  by: attributionSchema.shape.by,
  /** The user's `--reason`, or what happened. */
  reason: z.string().exactOptional(),
  /** Why the run ended, where the state does not say so: see `endings`. `canary` also where the run has paused itself after its canary. */
  because: z.enum(keptCauses).exactOptional(),
  /** A row at which the user should look, by its number in the manifest; `failure` is its result. */
  rowToSee: z
    .object({
      row: z.number(),
      failure: z.object({ code: z.string(), message: z.string() }).exactOptional(),
    })
    .exactOptional(),
  /** The active time in the state, by the monotonic clock. */
  atWorkMs: z.number().exactOptional(),
  /** The active time as last saved, before the state ended. */
  notedMs: z.number().exactOptional(),
});

export const runRecordSchema = z.object({
  version: z.literal(2),
  id: nameSchema(runIds),
  state: z.enum(runStates),
  states: z.array(stateEntrySchema),
  manifest: manifestSchema,
  /** The digest of `rows.jsonl`. */
  rows: z.object({ sha256: z.string(), bytes: z.number() }),
  plan: planSchema,
  options: runOptionsSchema,
  /** Counts when a session last ended properly. */
  counts: countsSchema.exactOptional(),
  /** The number of unclear rows. Absent in older records. */
  unclear: z.number().exactOptional(),
  /** The process that works on the run, or the last process that did. */
  process: processSchema.exactOptional(),
  /** A random text that distinguishes runs with the same id on a shared datastore. */
  key: z.string().exactOptional(),
  /** Whether any coordinator may work on the run, even after the first coordinator died. */
  submitted: z.boolean().exactOptional(),
  rates: z.array(z.object({ rate: z.string(), at: z.string(), ...attributionSchema.shape })).exactOptional(),
  priorities: z
    .array(z.object({ priority: z.enum(priorities), at: z.string(), ...attributionSchema.shape }))
    .exactOptional(),
  /** The limits of a submitted run; `begun` once it has started. */
  budget: budgetSchema.extend({ begun: startedBudgetSchema.exactOptional() }).exactOptional(),
  /** The shared datastore of the last session, without a password; absent for the embedded one. */
  queue: z.string().exactOptional(),
  /** The plan that the run carries out. */
  planFile: z.object({ name: z.string(), sha256: z.string(), madeAt: z.string() }).exactOptional(),
  retryOf: nameSchema(runIds).exactOptional(),
  undoOf: nameSchema(runIds).exactOptional(),
  canary: z
    .object({ at: z.string(), rows: z.number(), failed: z.number(), wentOn: z.boolean() })
    .exactOptional(),
  /** Why the datastore delays the run, according to its process. For display. */
  waiting: z.string().optional(),
  /** An absolute path that exists once the manifest is archived; until then the run is kept. */
  keepUntil: z.string().exactOptional(),
});

export type RunRecord = z.infer<typeof runRecordSchema>;

export interface StateCause extends Attribution {
  readonly because?: KeptCause;
  readonly rowToSee?: RowToSee;
}

export function stateEntry(state: RunState, cause?: StateCause): RunRecord['states'][number] {
  return { state, at: new Date().toISOString(), ...cause };
}

export function plannedAt({ states }: RunRecord): string {
  return states[0]?.at ?? '';
}

export function endOf({ state, states }: Pick<RunRecord, 'state' | 'states'>): StoredEnd {
  return { state, because: states.at(-1)?.because };
}

/** The facts of the run's end. Undefined for a run that has not ended. */
export function endFactsOfRun(record: RunRecord): EndFacts | undefined {
  return endFactsOf({ ...endOf(record), state: actualState(record) });
}

export function stateInWords(record: RunRecord): string {
  return endFactsOfRun(record)?.words ?? record.state;
}

/**
 * Whether a guard has halted the run since it last called rows. Unlike `isHaltedByGuard`, also holds after a user has submitted the halted
 * run, until a daemon takes it.
 */
export function goesOnAfterHalt({ states }: Pick<RunRecord, 'states'>): boolean {
  return endFactsOf(stateBeforeSubmission(states))?.manner === 'halted';
}

/** Whether a user has submitted the run after it had stopped, and no daemon has taken it since. */
export function isSubmittedAfterStop({ state, states }: Pick<RunRecord, 'state' | 'states'>): boolean {
  return state === 'submitted' && endFactsOf(stateBeforeSubmission(states)) !== undefined;
}

function stateBeforeSubmission(states: RunRecord['states']): StoredEnd {
  return states.findLast(({ state }) => state !== 'submitted') ?? { state: 'planned' };
}

/** Whether a guard halted the run, so that only a user may resume it. */
export function isHaltedByGuard(record: Pick<RunRecord, 'state' | 'states'>): boolean {
  return endFactsOf(endOf(record))?.manner === 'halted';
}

export function enterState(record: RunRecord, state: RunState, cause?: StateCause): RunRecord {
  const { waiting: _, ...lasting } = record;
  const entered = { ...lasting, state, states: [...record.states, stateEntry(state, cause)] };
  if (state !== 'running' && state !== 'paused') return entered;
  return { ...entered, process: thisProcess() };
}

/** A run whose process died, or is not known, is interrupted. */
export function actualState(record: RunRecord): RunState {
  if (record.state !== 'running' && record.state !== 'paused') return record.state;
  const worker = record.process;
  if (worker === undefined) return 'interrupted';
  // A process with another host name can't be asked: the store has forgotten the process if it shows no sign of life.
  return stateOfProcess(worker) === 'dead' ? 'interrupted' : record.state;
}

/** Whether no row will be called again, not even by `resume`. */
export function isOver(record: RunRecord): boolean {
  return isFinalState(actualState(record));
}

/** Whether rows will be called without a `resume`, at the latest when the run is unpaused. */
export function goesOnByItself(record: RunRecord): boolean {
  if (record.state === 'submitted' || isActive(actualState(record))) return true;
  // If the process of a submitted run dies, another coordinator takes over.
  return record.submitted === true && isActive(record.state);
}

export function phaseOf(record: RunRecord): RunPhase {
  if (goesOnByItself(record)) return 'in progress';
  return isResumable(actualState(record)) ? 'stopped' : 'ended';
}

export function runKey({ key, id }: Pick<RunRecord, 'key' | 'id'>): string {
  return key ?? id;
}

export function unfinishedBecause(record: RunRecord): WhyUnfinished {
  if (goesOnByItself(record)) return 'pending';
  return endFactsOf(endOf(record))?.unfinished ?? 'interrupted';
}

export function isResumable(state: RunState): boolean {
  return !isActive(state) && !isFinalState(state);
}

export function priorityOf({ options }: Pick<RunRecord, 'options'>): Priority {
  return options.priority ?? usualPriority;
}

export type PriorityChange = Omit<ControlOf<'priority'>, 'kind'>;
export type RateChange = Omit<ControlOf<'rate'>, 'kind'>;

export function withPriority(record: RunRecord, { priority, at, ...attribution }: PriorityChange): RunRecord {
  return {
    ...record,
    options: { ...record.options, priority },
    priorities: [...(record.priorities ?? []), { priority, at, ...attribution }],
  };
}

/** @param change the new rate; without it, calls are as fast as the API allows */
export function withRate(record: RunRecord, { rate, at, ...attribution }: RateChange): RunRecord {
  const { rate: _, ...options } = record.options;
  return {
    ...record,
    options: { ...options, ...(rate !== null && { rate: { ...rate, setAt: at } }) },
    rates: [...(record.rates ?? []), { rate: rate?.text ?? 'none', at, ...attribution }],
  };
}

export function withoutQueueAndBudget({ queue: _, budget: __, ...record }: RunRecord): RunRecord {
  return record;
}

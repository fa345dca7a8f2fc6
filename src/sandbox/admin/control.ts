import type { Evaluation, Soundboard } from '../model/entities.ts';
import { completeSwitches, parseTokens, readSwitches, type SwitchOptions } from '../options/options.ts';
import type { LogEntry, RequestCounts, RequestLog } from '../request-log.ts';
import type { Service } from '../service/service.ts';
import type { Evaluations, Soundboards, State } from '../state/store.ts';

/** What can be seen and changed while the service runs, from the library and under `/sandbox`. */
export interface SandboxControl {
  /** The request log, oldest entry first, from after the request `after` (default 0: all that is kept). */
  readonly log: (after?: number) => Iterable<LogEntry>;
  /** Counts of requests and of changes. */
  readonly stats: () => SandboxStats;
  /** Resolves when that many requests have arrived since the start or the last reset. */
  readonly whenRequests: (count: number) => Promise<void>;
  /** The state, evaluations before soundboards. */
  readonly state: (filter?: StateFilter) => Iterable<StateLine>;
  /** An evaluation as it is now. `id` is in decimal. */
  readonly evaluation: (id: string) => Evaluation | undefined;
  /** A soundboard entry as it is now. `id` is in decimal. */
  readonly soundboard: (id: string) => Soundboard | undefined;
  /**
   * Changes switches; those that are not given stay. A limit starts anew when it is given.
   *
   * @returns all switches as they are then.
   * @throws CqbatchError `INVALID_OPTION`; nothing is changed then.
   */
  readonly configure: (changes: SwitchOptions) => Required<SwitchOptions>;
  /**
   * Changes the token that is accepted, or several with commas between; `null`: none is, as after expiry.
   *
   * @throws CqbatchError `INVALID_OPTION`
   */
  readonly setToken: (token: string | null) => void;
  /** Undoes every change of the state, empties the log, and fills the rate limit's allowance. */
  readonly reset: () => void;
}

interface SandboxStats extends Readonly<RequestCounts> {
  readonly evaluations_restored: number;
  readonly soundboards_updated: number;
  /** Entries that the log still has. */
  readonly log_entries: number;
}

/** The control of a service that was started with the given switches. */
export function createControl(service: Service, log: RequestLog, started: SwitchOptions): SandboxControl {
  let options = completeSwitches(started);
  return {
    log: (after) => log.entries(after),
    stats: () => ({
      ...log.counts,
      evaluations_restored: service.state.evaluations.changes.size,
      soundboards_updated: service.state.soundboards.changes.size,
      log_entries: log.kept,
    }),
    whenRequests: (count) => log.whenCount(count),
    state: (filter) => stateLines(service.state, filter),
    evaluation: (id) => service.state.evaluations.find(id),
    soundboard: (id) => service.state.soundboards.find(id),
    configure(changes) {
      const changed = { ...options, ...changes };
      service.configure(readSwitches(changed), { renewLimit: changes.limit !== undefined });
      options = changed;
      return options;
    },
    setToken(token) {
      service.tokens = token === null ? [] : parseTokens('--token', token);
    },
    reset: () => service.reset(),
  };
}

/** Which part of the state to list; everything by default. */
interface StateFilter {
  readonly kind?: StateKind;
  /** Only what was changed since the start or the last reset. */
  readonly changed?: boolean;
  /** Only these decimal identifiers, in this order. */
  readonly ids?: readonly string[];
}

export const stateKinds = ['evaluation', 'soundboard'] as const;
type StateKind = (typeof stateKinds)[number];

/** A thing of the state as it is now. */
type StateLine = EvaluationLine | SoundboardLine;

interface Line {
  /** Decimal identifier. */
  readonly id: string;
  readonly changed: boolean;
}

interface EvaluationLine extends Line {
  readonly kind: 'evaluation';
  readonly deleted: boolean;
  /** The `user_id` of the request that restored it, when it was restored and the request had one. */
  readonly restored_by?: string;
  /** ISO 8601 UTC, when it was restored. */
  readonly restored_at?: string;
  readonly evaluation: Evaluation;
}

interface SoundboardLine extends Line {
  readonly kind: 'soundboard';
  readonly soundboard: Soundboard;
}

/** Lists the state, evaluations before soundboards. */
function* stateLines(
  { evaluations, soundboards }: State,
  { kind, ...filter }: StateFilter = {},
): Generator<StateLine> {
  if (kind !== 'soundboard') {
    for (const id of idsOf(evaluations, filter)) {
      const evaluation = evaluations.find(id);
      if (evaluation !== undefined) yield evaluationLine(evaluations, id, evaluation);
    }
  }
  if (kind !== 'evaluation') {
    for (const id of idsOf(soundboards, filter)) {
      const soundboard = soundboards.find(id);
      if (soundboard === undefined) continue;
      yield { kind: 'soundboard', id, changed: soundboards.changes.has(id), soundboard };
    }
  }
}

function idsOf(things: Evaluations | Soundboards, { changed = false, ids }: StateFilter): Iterable<string> {
  if (ids === undefined) return changed ? things.changes.keys() : things.ids();
  return changed ? ids.filter((id) => things.changes.has(id)) : ids;
}

function evaluationLine(evaluations: Evaluations, id: string, evaluation: Evaluation): EvaluationLine {
  const restoration = evaluations.changes.get(id);
  return {
    kind: 'evaluation',
    id,
    changed: restoration !== undefined,
    deleted: evaluation.deleted_at !== undefined,
    ...(restoration?.userId !== undefined && { restored_by: restoration.userId }),
    ...(restoration && { restored_at: new Date(restoration.at).toISOString() }),
    evaluation,
  };
}

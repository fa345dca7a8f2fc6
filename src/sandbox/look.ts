import type { LogEntry } from './request-log.ts';
import type { Service } from './service.ts';
import type { State } from './state.ts';

/** The prefix of requests for inspection: outside the service's paths, so that they are not logged and need no token. */
export const inspectionPrefix = '/sandbox/';

/** The documents at a path below the prefix, as docs/sandbox.md describes them; undefined for an unknown path. */
export function inspectedDocuments(
  { log, state }: Service,
  { pathname, searchParams }: URL,
): Iterable<unknown> | undefined {
  const what = pathname.slice(inspectionPrefix.length);
  if (what === 'log') return log.entries;
  if (what === 'state') return stateLines(state, searchParams.getAll('id'));
  return what === 'stats' ? [countsOf(log.entries, state)] : undefined;
}

function countsOf(entries: readonly LogEntry[], { restorations, updates }: State): object {
  return {
    requests: entries.length,
    committed: entries.filter(({ committed }) => committed).length,
    throttled: entries.filter(({ throttled }) => throttled).length,
    by_operation: countBy(entries, 'operation'),
    by_status: countBy(entries, 'status'),
    by_code: countBy(entries, 'code'),
    by_fault: countBy(entries, 'fault'),
    evaluations_restored: restorations.size,
    soundboards_updated: updates.size,
  };
}

function countBy(entries: readonly LogEntry[], key: 'operation' | 'status' | 'code' | 'fault'): object {
  const counts: Record<string, number> = {};
  for (const entry of entries) {
    const value = String(entry[key] ?? 'none');
    counts[value] = (counts[value] ?? 0) + 1;
  }
  return counts;
}

/** The entities with these identifiers, or all that were changed; evaluations first. */
export function* stateLines(state: State, ids: readonly string[]): Generator<object> {
  const { restorations, deletions, updates } = state;
  for (const id of ids.length > 0 ? ids : [...restorations.keys(), ...deletions.keys()]) {
    const evaluation = state.evaluation(integerOf(id));
    if (evaluation === undefined) continue;
    const { userId, at } = restorations.get(id) ?? {};
    yield {
      kind: 'evaluation',
      id,
      changed: at !== undefined || deletions.has(id),
      deleted: evaluation.deleted_at !== undefined,
      ...(userId !== undefined && { restored_by: userId }),
      ...(at !== undefined && { restored_at: new Date(at).toISOString() }),
      evaluation,
    };
  }
  for (const id of ids.length > 0 ? ids : updates.keys()) {
    const soundboard = state.soundboard(integerOf(id));
    if (soundboard !== undefined) yield { kind: 'soundboard', id, changed: updates.has(id), soundboard };
  }
}

/** The identifier in a text; 0, which belongs to no entity, if the text is no decimal identifier. */
function integerOf(id: string): bigint {
  return /^[1-9]\d{0,18}$/.test(id) ? BigInt(id) : 0n;
}

import { sandboxToken, type TestSandbox } from '../helpers/sandbox.ts';

export type Entry = Readonly<Record<string, unknown>>;

/** The soundboard entries as the sandbox has them, but for the time of the last change, which it sets itself. */
export function entries(sandbox: TestSandbox): readonly Entry[] {
  const found: Entry[] = [];
  for (let id = 1; ; id++) {
    const soundboard = sandbox.soundboard(id);
    if (soundboard === undefined) return found;
    const { last_modified: _, ...entry } = soundboard;
    found.push(entry);
  }
}

/** The same, with some fields of some entries, by identifier, changed. */
export function withChanges(
  before: readonly Entry[],
  changes: Readonly<Record<number, Entry>>,
): readonly Entry[] {
  return before.map((entry) => ({ ...entry, ...changes[Number(entry['soundboard_id'])] }));
}

/** Another client changes fields of an entry: it sends the whole entry, as it is but for these fields. */
export async function editElsewhere(sandbox: TestSandbox, id: number, fields: Entry): Promise<void> {
  const answer = await fetch(`${sandbox.url}/api/v1alpha1/org/soundboard/update`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandboxToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ soundboard: { ...sandbox.soundboard(id), ...fields } }),
  });
  if (answer.status !== 200) throw new Error(`The sandbox answered ${answer.status}: ${await answer.text()}`);
}

/** What reads, and changes nothing. */
const lists = new Set(['list-soundboards', 'list-evaluations']);

/** The calls of cqbatch that may have changed something: it sends a trace context, other clients don't. */
export async function changingCalls(sandbox: TestSandbox) {
  const log = await sandbox.log();
  return log.filter(({ operation, traceparent }) => traceparent !== null && !lists.has(operation ?? ''));
}

export async function calledIds(sandbox: TestSandbox): Promise<readonly (string | null)[]> {
  return (await changingCalls(sandbox)).map(({ id }) => id);
}

/** Renames this many entries, and says nothing of what was before. */
export function renamedCsv(rows: number): string {
  const lines = Array.from({ length: rows }, (_, row) => `${row + 1},New ${row + 1}`);
  return `soundboard_id,title\n${lines.join('\n')}\n`;
}

/**
 * What another client did while no process of a run was there: it changes the descriptions of some entries, as a person would who does not
 * know of the run.
 *
 * @returns how many requests the sandbox had seen before each edit, by identifier
 */
export async function editSome(
  sandbox: TestSandbox,
  ids: readonly number[],
  description: string,
): Promise<ReadonlyMap<number, number>> {
  const seen = new Map<number, number>();
  for (const id of ids) {
    seen.set(id, (await sandbox.log()).length);
    await editElsewhere(sandbox, id, { description });
  }
  return seen;
}

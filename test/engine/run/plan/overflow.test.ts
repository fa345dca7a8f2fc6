import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import type { Operation } from '../../../../src/engine/operation/operation.ts';
import type { Overflow } from '../../../../src/engine/rows/record-pages.ts';
import { readPlanFile } from '../../../../src/engine/run/plan/file/read-plan-file.ts';
import type { PlannedRows } from '../../../../src/engine/run/plan/planned-rows.ts';
import { writeRetryRows } from '../../../../src/engine/run/plan/retry-run.ts';
import { writeUndoRows } from '../../../../src/engine/run/plan/undo-run.ts';
import { openFilesBelow } from '../../../helpers/open-files.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { leastOptions } from '../planned-record.ts';
import { end, endedRun, rowsIn } from './ended-run.ts';
import { planOptions, writePlan } from './written-plan.ts';

/** With one page in memory, 257 subjects overflow. A third of these have a second row, and a sixth a third row. */
const edits = Array.from({ length: 300 }, (_, at) => at + 1).flatMap((id) => [
  { soundboard_id: id, title: `new ${id}`, old_title: `old ${id}` },
  ...(id % 3 === 0 ? [{ soundboard_id: 301 - id, title: 'another', old_title: `new ${id}` }] : []),
  ...(id % 6 === 0 ? [{ soundboard_id: id, title: 'the last', old_title: 'another' }] : []),
]);

const failed = { outcome: 'failed', code: 'UNAVAILABLE' } as const;

/** What is known of rows, besides when. */
async function decisionsOf({ digest: _, head: __, ...planned }: PlannedRows, path: string) {
  return { ...planned, rows: await rowsIn(path) };
}

/** Plans rows of another file of rows. */
type Planning = (place: {
  readonly loaded: readonly Operation[];
  readonly path: string;
  readonly overflow: Overflow | undefined;
}) => Promise<PlannedRows>;

async function readingPlan(): Promise<Planning> {
  const folder = await temporaryFolder();
  const [manifest, file] = [join(folder, 'rows.jsonl'), join(folder, 'week.cqplan')];
  await writeFile(manifest, edits.map((edit) => `${JSON.stringify(edit)}\n`).join(''));
  await writePlan(file, manifest, { options: { ...planOptions, onConflict: 'in-order' } });
  return async ({ loaded, path, overflow }) => {
    const store = { stateDir: folder, operations: loaded };
    return (await readPlanFile(store, file, path, overflow && { overflow })).planned;
  };
}

async function retrying(): Promise<Planning> {
  const others = Object.fromEntries(edits.flatMap((_, at) => (at % 50 === 0 ? [] : [[at + 1, failed]])));
  const { store, record } = await endedRun(edits, { others });
  return ({ loaded, path, overflow }) =>
    writeRetryRows(
      { ...store, operations: loaded },
      record,
      [],
      {},
      { options: leastOptions, path, ...(overflow && { overflow }) },
    );
}

async function undoing(): Promise<Planning> {
  const { store, record } = await endedRun(edits);
  const source = join(store.stateDir, 'later.jsonl');
  await writeFile(source, '{"soundboard_id":299,"title":"x"}\n{"soundboard_id":999,"title":"x"}\n');
  const rows = { kind: 'manifest' as const, source, reading: { clearToken: '<clear>' } };
  const laterRuns = [await end(store, { rows, options: leastOptions }, {})];
  return ({ loaded, path, overflow }) =>
    writeUndoRows({ ...store, operations: loaded }, record, [], {
      options: leastOptions,
      path,
      laterRuns,
      ...(overflow && { overflow }),
    });
}

describe.each([
  ['a plan file', readingPlan],
  ['a retry', retrying],
  ['an undo', undoing],
])('%s', (_, prepare) => {
  test('decides the same whether subjects overflow or are in memory', async () => {
    const [planning, folder] = [await prepare(), await temporaryFolder()];
    const plan = async (name: string, overflow?: Overflow) => {
      const path = join(folder, name);
      return decisionsOf(await planning({ loaded: operations, path, overflow }), path);
    };
    const inMemory = await plan('in-memory.jsonl');
    expect(inMemory.rows.length).toBeGreaterThan(256);
    const { path: _, ...overflowing } = {
      path: '',
      ...(await plan('rows.jsonl', { folder, pagesInMemory: 1 })),
    };
    expect(overflowing).toEqual(inMemory);
  });

  test.each([
    ['at its end', undefined],
    ['after an error', new Error('no such request')],
    ['after a cancel', AbortSignal.abort().reason],
  ])('keeps no file open: %s', async (_, failure) => {
    const [planning, folder] = [await prepare(), await temporaryFolder()];
    const overflow = { folder: join(folder, 'overflow'), pagesInMemory: 1 };
    let hasOverflowed = false;
    const loaded = operations.map((operation) => ({
      ...operation,
      request(values: Parameters<typeof operation.request>[0]) {
        hasOverflowed ||= openFilesBelow(overflow.folder).length > 0;
        if (failure !== undefined && hasOverflowed) throw failure;
        return operation.request(values);
      },
    }));
    const planned = planning({ loaded, path: join(folder, 'rows.jsonl'), overflow });
    if (failure === undefined) await planned;
    else await expect(planned).rejects.toBe(failure);
    expect(hasOverflowed).toBe(true);
    expect(openFilesBelow(folder)).toEqual([]);
  });
});

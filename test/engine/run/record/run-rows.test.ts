import { readFile, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  openRunRows,
  refuseChangedRows,
  requireOperations,
} from '../../../../src/engine/run/record/run-rows.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { endedRun } from '../plan/ended-run.ts';

const rows = [1, 2].map((id) => ({ evaluation_id: id, user_id: 'u' }));

test('rows that are as they were planned may be called', async () => {
  const { store, record } = await endedRun(rows);
  await expect(refuseChangedRows(store, record)).resolves.toBeUndefined();
});

test.each<[what: string, change: (text: string) => string]>([
  ['in a value', (text) => text.replace('"values":["2"', '"values":["3"')],
  ['in the digest of a request', (text) => text.replace(/"request":"[^"]/, '"request":"=')],
  ['in a cell', (text) => text.replace('"cells":["1"', '"cells":["9"')],
  ['behind their end', (text) => `${text}\n`],
])('rows that were changed %s are not called', async (_where, change) => {
  const { store, record } = await endedRun(rows);
  const { path } = await openRunRows(store, record);
  const text = await readFile(path, 'utf8');
  expect(change(text)).not.toBe(text);
  await writeFile(path, change(text));
  await expect(refuseChangedRows(store, record)).rejects.toMatchObject({
    kind: 'usage',
    code: 'ROWS_CHANGED',
    message: expect.stringContaining(
      `${path} was changed after run ${record.id} was planned, so nothing is sent.`,
    ),
  });
});

test('rows that are missing are not called', async () => {
  const { store, record } = await endedRun(rows);
  await rm((await openRunRows(store, record)).path);
  await expect(refuseChangedRows(store, record)).rejects.toMatchObject({
    kind: 'fatal',
    code: 'ROWS_MISSING',
  });
});

test('a run needs its operations to be called, but not to be read', async () => {
  const { store, record } = await endedRun(rows);
  expect(() => requireOperations(store, record)).not.toThrow();
  const bare = openRunStore(store.stateDir, []);
  expect(() => requireOperations(bare, record)).toThrow(
    `Run ${record.id} needs the operation restore-evaluation, which is not built in: pass --operations`,
  );
  const { head } = await openRunRows(bare, record);
  expect(head.operations).toMatchObject([
    { name: 'restore-evaluation', thing: 'evaluation', done: 'restored' },
  ]);
});

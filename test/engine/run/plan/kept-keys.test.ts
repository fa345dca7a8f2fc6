import { expect, test } from 'vitest';
import { noHistory } from '../../../../src/domain/attempts.ts';
import type { RowResult } from '../../../../src/domain/row-result.ts';
import { idempotencyKey } from '../../../../src/domain/trace.ts';
import type { PlannedRow } from '../../../../src/engine/rows/row.ts';
import { KeptKeys } from '../../../../src/engine/run/plan/kept-keys.ts';
import type { RunRecord } from '../../../../src/engine/run/record/record.ts';
import { callableRow } from '../../../helpers/planned-row.ts';

type Order = Exclude<PlannedRow, { kind: 'invalid' }>;

/** Row of an order with this amount. */
function order(place: number, ref: string, amount = '5', key?: string): Order {
  const row = callableRow(place);
  const operation = { ...row.operation, name: 'place-order', key: 'by run' } as const;
  return { ...row, operation, subject: ref, values: { ref, amount }, ...(key !== undefined && { key }) };
}

const results = {
  unclear: { outcome: 'failed', code: 'CONNECTION_LOST', unclear: true, finishedAt: 'x' },
  done: { outcome: 'succeeded', code: 'OK', unclear: false, finishedAt: 'x' },
  refused: { outcome: 'failed', code: 'INVALID_ARGUMENT', unclear: false, finishedAt: 'x' },
  uncalled: { outcome: 'not_attempted', code: 'HALTED', unclear: false },
  pending: { outcome: 'pending', code: 'PENDING', unclear: false },
} as const;

type Call = readonly [run: string, row: Order, result: keyof typeof results];

function keysAfter(...calls: readonly Call[]): KeptKeys {
  const keys = new KeptKeys();
  for (const [id, row, result] of calls)
    keys.note({ id, key: id } as RunRecord, row, {
      row: row.row,
      operation: 'place-order',
      message: '',
      attempts: noHistory.attempts,
      ...results[result],
    } as RowResult);
  return keys;
}

const first = idempotencyKey('a', 1);

test.each<[string, readonly Call[], string | undefined]>([
  ['may have been processed', [['a', order(1, 'x'), 'unclear']], first],
  ['is pending', [['a', order(1, 'x'), 'pending']], first],
  ['was answered', [['a', order(1, 'x'), 'done']], undefined],
  ['was refused', [['a', order(1, 'x'), 'refused']], undefined],
  ['was not called', [['a', order(1, 'x'), 'uncalled']], undefined],
  ['had other values', [['a', order(1, 'x', '6'), 'unclear']], undefined],
  ['had another subject', [['a', order(1, 'y'), 'unclear']], undefined],
  [
    'was sent again with its key, without an answer',
    [
      ['a', order(1, 'x'), 'unclear'],
      ['b', order(4, 'x', '5', first), 'unclear'],
    ],
    first,
  ],
  [
    'was sent again with its key, and answered',
    [
      ['a', order(1, 'x'), 'unclear'],
      ['b', order(4, 'x', '5', first), 'refused'],
    ],
    undefined,
  ],
  [
    'was planned again, and not called',
    [
      ['a', order(1, 'x'), 'unclear'],
      ['b', order(4, 'x', '5', first), 'uncalled'],
    ],
    first,
  ],
  [
    'was followed by another change of its subject, so that its answer says nothing of now',
    [
      ['a', order(1, 'x'), 'unclear'],
      ['b', order(4, 'x', '6'), 'done'],
    ],
    undefined,
  ],
  [
    'was followed by another call that was refused',
    [
      ['a', order(1, 'x'), 'unclear'],
      ['b', order(4, 'x', '6'), 'refused'],
    ],
    first,
  ],
])('a later call like one that %s has the right key', (_title, calls, key) => {
  expect(keysAfter(...calls).take(order(9, 'x'))?.key).toBe(key);
});

test('of two equal calls, each keeps a key of its own', () => {
  const keys = keysAfter(['a', order(1, 'x'), 'unclear'], ['a', order(3, 'x'), 'unclear']);
  const taken = [1, 2, 3].map((row) => keys.take(order(row, 'x'))?.key);
  expect(taken).toEqual([first, idempotencyKey('a', 3), undefined]);
});

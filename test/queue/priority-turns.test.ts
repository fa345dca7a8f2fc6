import { expect, test } from 'vitest';
import { type Priority, priorities } from '../../src/domain.ts';
import { PriorityTurns } from '../../src/queue/priority-turns.ts';

test.each<[readonly Priority[], Partial<Record<Priority, number>>]>([
  [[], {}],
  [['normal'], { normal: 2_000 }],
  [['low'], { low: 2_000 }],
  [['normal', 'low'], { normal: 1_900, low: 100 }],
  [['high', 'low'], { high: 1_900, low: 100 }],
  [['high', 'normal'], { high: 1_900, normal: 100 }],
  [['high', 'normal', 'low'], { high: 1_800, normal: 100, low: 100 }],
])('of 2,000 turns for which %j wait, they get %j', (waiting, expected) => {
  const turns = new PriorityTurns();
  const got: Partial<Record<Priority, number>> = {};
  for (let turn = 0; turn < 2_000; turn += 1) {
    const next = turns.next((priority) => waiting.includes(priority));
    if (next !== undefined) got[next] = (got[next] ?? 0) + 1;
  }
  for (const priority of priorities)
    expect(Math.abs((got[priority] ?? 0) - (expected[priority] ?? 0))).toBeLessThanOrEqual(1);
});

test('the highest goes first, and a lower one never has two turns in a row', () => {
  const turns = new PriorityTurns();
  const order = Array.from({ length: 100 }, () => turns.next((priority) => priority !== 'normal'));
  expect(order.slice(0, 19)).toEqual(Array(19).fill('high'));
  expect(order.some((priority, place) => priority === 'low' && order[place + 1] === 'low')).toBe(false);
});

import { expect, test } from 'vitest';
import { RunTurns, type TurnRun } from '../../../src/run/session/run-turns.ts';

const run = (id: string, priority: TurnRun['priority'] = 'normal', isNew = true): TurnRun => ({
  id,
  priority,
  isNew,
});

/** Which run has the turn in each second. */
function turnsIn(
  seconds: number,
  runsAt: (second: number) => readonly TurnRun[],
): readonly (string | undefined)[] {
  const turns = new RunTurns();
  return Array.from({ length: seconds }, (_, second) => turns.choose(second * 1_000, runsAt(second))?.id);
}

const secondsOf = (turns: readonly (string | undefined)[], id: string): number =>
  turns.filter((each) => each === id).length;

test('a run alone keeps its turn', () => {
  expect(
    secondsOf(
      turnsIn(600, () => [run('a')]),
      'a',
    ),
  ).toBe(600);
});

test('runs of one priority alternate by the minute, and get the same time', () => {
  const turns = turnsIn(600, () => [run('a'), run('b')]);
  expect([secondsOf(turns, 'a'), secondsOf(turns, 'b')]).toEqual([300, 300]);
  expect(turns.filter((id, second) => id !== turns[second - 1])).toHaveLength(10);
});

test('a run that comes later does not make up for the past', () => {
  const turns = turnsIn(1_200, (second) => (second < 600 ? [run('a')] : [run('a'), run('b')]));
  expect(secondsOf(turns.slice(600), 'b')).toBe(300);
});

test('a new run of a higher priority has its turn at once, and then the others again', () => {
  const turns = turnsIn(120, (second) => [
    run('a', 'normal', second === 0),
    ...(second >= 10 && second < 30 ? [run('u', 'high', second === 10)] : []),
  ]);
  expect([turns[9], turns[10], turns[29], turns[30]]).toEqual(['a', 'u', 'u', 'a']);
});

test('a low run has one turn of twenty', () => {
  const turns = turnsIn(60 * 400, (second) => [
    run('a', 'normal', second === 0),
    run('z', 'low', second === 0),
  ]);
  expect(secondsOf(turns, 'z') / turns.length).toBeCloseTo(0.05, 2);
});

test('a low run in its turn gives way to a run that is new, and not to one that has run before', () => {
  const turns = turnsIn(60 * 60, (second) => [
    run('z', 'low', false),
    run('a', 'normal', false),
    ...(second % 300 < 20 ? [run(`u${Math.floor(second / 300)}`, 'high', second % 300 === 0)] : []),
  ]);
  expect(turns[0]).toBe('u0');
  expect(turns[300]).toBe('u1');
  expect(secondsOf(turns, 'z')).toBeGreaterThan(0);
});

test('nothing to choose from', () => {
  expect(turnsIn(2, () => [])).toEqual([undefined, undefined]);
});

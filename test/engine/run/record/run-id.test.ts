import { describe, expect, test } from 'vitest';
import { runIds } from '../../../../src/domain/names.ts';
import { newRunId } from '../../../../src/engine/run/record/run-id.ts';

describe('run ids', () => {
  test('sort by time', () => {
    const ids = [0, 1_000, 60_000, 86_400_000, 40_000_000_000].map((time) => newRunId(new Date(time)));
    expect(ids.toSorted()).toEqual(ids);
    expect(ids.every(runIds.has)).toBe(true);
  });
});

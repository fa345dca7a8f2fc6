import { describe, expect, test } from 'vitest';
import { RowBudget } from '../../../../src/cli/actions/mcp/budget.ts';
import type { RunRecord, RunStore } from '../../../../src/index.ts';

const hour = 3_600_000;
const now = Date.parse('2026-11-26T12:00:00.000Z');

/** A run that was planned some hours ago. */
function plannedRun(id: string, callable: number, { hoursAgo = 0, via = 'mcp' } = {}): RunRecord {
  const by = { user: 'ana', host: 'laptop', ...(via !== '' && { via }) };
  const states = [{ state: 'planned', at: new Date(now - hoursAgo * hour).toISOString(), by }];
  return { id, states, plan: { callable } } as unknown as RunRecord;
}

/** A state folder with these runs. */
function storeOf(...runs: RunRecord[]): RunStore {
  const saved = new Map(runs.map((run) => [run.id, run]));
  const save = async (run: RunRecord) => void saved.set(run.id, run);
  return { save, list: async () => [...saved.values()] } as unknown as RunStore;
}

describe('the budget of rows', () => {
  const budget = () => new RowBudget(10);

  test('counts runs of agents of the last 24 hours, and the new one once', async () => {
    const run = plannedRun('new', 4);
    const store = storeOf(
      plannedRun('old', 9, { hoursAgo: 25 }),
      plannedRun('of a person', 9, { via: '' }),
      plannedRun('recent', 6, { hoursAgo: 23 }),
      run,
    );
    expect(await budget().take(store, run, now)).toBe(0);
    await expect(budget().take(store, plannedRun('larger', 1), now)).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
    });
  });

  test('counts all runs of this process, however old, even when they were removed', async () => {
    const limited = budget();
    await limited.take(storeOf(), plannedRun('first', 6), now);
    await expect(limited.take(storeOf(), plannedRun('second', 5), now + 48 * hour)).rejects.toThrow(
      'The plan has 5 calls, and 4 of the 10 rows of --max-rows are left',
    );
    expect(await limited.take(storeOf(), plannedRun('third', 4), now)).toBe(0);
  });

  test('is not exceeded by two processes that plan at the same time', async () => {
    const store = storeOf();
    const takes = ['first', 'second'].map((id) => budget().take(store, plannedRun(id, 6), now));
    const ends = await Promise.allSettled(takes);
    expect(ends.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
  });

  test('counts a run that did not start no longer', async () => {
    const limited = budget();
    const run = plannedRun('first', 6);
    await limited.take(storeOf(), run, now);
    limited.giveBack(run);
    expect(await limited.take(storeOf(), plannedRun('second', 5), now)).toBe(5);
  });

  test('refuses when a record can not be read', async () => {
    const store = {
      save: async () => {},
      list: () => Promise.reject(new Error('damaged')),
    } as unknown as RunStore;
    await expect(budget().take(store, plannedRun('first', 1), now)).rejects.toThrow('damaged');
  });
});

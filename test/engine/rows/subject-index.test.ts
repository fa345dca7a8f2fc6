import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SubjectIndex } from '../../../src/engine/rows/subject-index.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { renaming } from './decided-rows.ts';

const calls = fc.array(
  fc.record({
    operation: fc.constantFrom(renaming, { ...renaming, name: 'delete' }),
    subject: fc.nat(2_000).map(String),
  }),
  { minLength: 1_000, maxLength: 3_000 },
);

describe.each([[undefined], [1], [3]])('an index with %s pages in memory', (pagesInMemory) => {
  test('finds the rows with the subject of an earlier row', async () => {
    const folder = await temporaryFolder();
    fc.assert(
      fc.property(calls, (all) => {
        const index = new SubjectIndex(pagesInMemory === undefined ? undefined : { folder, pagesInMemory });
        const rowsOf = new Map<string, number>();
        const wrong: unknown[] = [];
        for (const call of all) {
          const key = `${call.operation.name} ${call.subject}`;
          const earlier = rowsOf.get(key) ?? 0;
          if (index.add(call) !== earlier > 0) wrong.push(key);
          rowsOf.set(key, earlier + 1);
        }
        const { changedSubjects } = index;
        index.close();
        expect(wrong).toEqual([]);
        expect(changedSubjects).toBe([...rowsOf.values()].filter((rows) => rows > 1).length);
      }),
      { numRuns: 10 },
    );
  });
});

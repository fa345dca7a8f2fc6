import { expect, test } from 'vitest';
import { isDeleted, restored } from '../../../src/sandbox/model/evaluation.ts';
import { generateEvaluation } from '../../../src/sandbox/model/generate.ts';

test('a restored evaluation has lost its deletion, in its sections too, and nothing else', () => {
  const deleted = generateEvaluation(1, 1);
  const { deleted_at, deleted_by, evaluation_sections = [], ...rest } = deleted;
  expect(isDeleted(deleted)).toBe(true);
  expect(deleted_by).toMatch(/^supervisor-/);

  const result = restored(deleted);
  expect(isDeleted(result)).toBe(false);
  expect(JSON.stringify(Object.keys(result))).not.toContain('deleted');
  expect(result).toEqual({
    ...rest,
    evaluation_sections: evaluation_sections.map(({ deleted_at: sectionDeletedAt, ...section }) => {
      expect(sectionDeletedAt).toBe(deleted_at);
      return section;
    }),
  });
});

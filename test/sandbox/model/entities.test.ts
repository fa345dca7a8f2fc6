import { expect, test } from 'vitest';
import { restored, updated } from '../../../src/sandbox/model/entities.ts';
import { generateEvaluation, generateSoundboard } from '../../../src/sandbox/model/generate.ts';

test('a restored evaluation has lost its deletion, in its sections too, and nothing else', () => {
  const deleted = generateEvaluation(1, 1);
  const { deleted_at, deleted_by, evaluation_sections = [], ...rest } = deleted;
  expect(deleted_by).toMatch(/^supervisor-/);

  const result = restored(deleted);
  expect(JSON.stringify(Object.keys(result))).not.toContain('deleted');
  expect(result).toEqual({
    ...rest,
    evaluation_sections: evaluation_sections.map(({ deleted_at: sectionDeletedAt, ...section }) => {
      expect(sectionDeletedAt).toBe(deleted_at);
      return section;
    }),
  });
});

const soundboard = generateSoundboard(1, 3);
const time = '2025-06-01T12:00:00Z';

test('an update that keeps omitted fields changes the given ones and last_modified', () => {
  expect(updated(soundboard, { title: '', file_size: 0 }, 'keep', time)).toEqual({
    ...soundboard,
    title: '',
    file_size: 0,
    last_modified: time,
  });
});

test('an update that resets omitted fields leaves the given ones, date_created and last_modified', () => {
  expect(updated(soundboard, { title: 'New' }, 'reset', time)).toEqual({
    soundboard_id: 3,
    date_created: soundboard.date_created,
    title: 'New',
    last_modified: time,
  });
});

test.each(['keep', 'reset'] as const)(
  'a given last_modified does not count (%s), a given date_created does',
  (omitted) => {
    const given = { last_modified: 'yesterday', date_created: 'long ago' };
    expect(updated(soundboard, given, omitted, time)).toMatchObject({
      last_modified: time,
      date_created: 'long ago',
    });
  },
);

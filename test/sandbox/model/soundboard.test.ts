import { expect, test } from 'vitest';
import { generateSoundboard } from '../../../src/sandbox/model/generate.ts';
import { updated } from '../../../src/sandbox/model/soundboard.ts';

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

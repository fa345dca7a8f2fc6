import { expect, test } from 'vitest';
import { withoutRunWords } from '../../../src/daemon/schedule/occasion-words.ts';

const due = '2026-11-29T20:18:00.000Z';

test.each([
  [
    { due, result: 'idle' },
    { what: 'idle', why: 'the inbox was empty' },
  ],
  [
    { due, result: 'skipped', because: 'paused' },
    { what: 'skipped', why: 'the schedule was paused' },
  ],
  [
    { due, result: 'skipped', because: 'nightly-1' },
    { what: 'skipped', why: 'nightly-1 was in progress' },
  ],
  [
    { due, result: 'missed', at: due },
    { what: 'missed', why: 'no daemon started it in time' },
  ],
  [
    { due, result: 'failed', at: due, code: 'MANIFEST_MISSING', message: 'nightly.csv is missing' },
    { what: 'failed', why: 'nightly.csv is missing' },
  ],
] as const)('an occasion without a run says what happened and why: %j', (entry, words) => {
  expect(withoutRunWords(entry)).toEqual(words);
});

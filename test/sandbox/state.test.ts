import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateEvaluation } from '../../src/sandbox/generate.ts';
import { readOptions } from '../../src/sandbox/notation.ts';
import { type SandboxOptions, sandboxOptions } from '../../src/sandbox/options.ts';
import { generateSoundboard } from '../../src/sandbox/soundboard.ts';
import { isInShare, State } from '../../src/sandbox/state.ts';

const newState = (options: SandboxOptions = { evaluations: 200 }): State =>
  new State(readOptions(sandboxOptions, options));

const change = { userId: 'u', at: 0 };

test.each([
  [50n, 'is not recoverable'],
  [170n, 'is not deleted'],
  [201n, 'was not found'],
  [0n, 'was not found'],
])('restoring evaluation %s: it %s', (id, refusal) => {
  expect(newState().restore(id, change)).toBe(refusal);
});

test('a restored evaluation has lost its deletion, including in its sections, and nothing else', () => {
  const { deleted_at, deleted_by, evaluation_sections, ...rest } = generateEvaluation(1n, 1n);
  expect(deleted_by).toMatch(/^u-1\d$|^u-20$/);
  expect(newState().restore(1n, change)).toEqual({
    ...rest,
    evaluation_sections: evaluation_sections.map(({ deleted_at: deletedWith, ...section }) => {
      expect(deletedWith).toBe(deleted_at);
      return section;
    }),
  });
});

test('an update changes the given fields, and last_modified is the time of the update whatever is given', () => {
  const state = newState();
  const given = { title: '', file_size: 0, date_created: 'long ago', last_modified: 'yesterday' };
  const expected = { ...generateSoundboard(1n, 3n), ...given, last_modified: '2025-06-01T12:00:00Z' };
  expect(state.update(3n, given, Date.parse('2025-06-01T12:00:00.9Z'))).toEqual(expected);
  expect(state.soundboard(3n)).toEqual(expected);
  expect(state.update(201n, given, 0)).toBeUndefined();
});

const noTexts = { file_name: '', title: '', date_created: '' };
const cleared = { ...noTexts, file_size: 0, recording_length: 0 };

test.each([
  ['merge', { title: '', file_size: 0, file_type: 'RECORDING_FILE_TYPE_WAV', description: 'new' }],
  ['presence', { description: 'new', file_type: 'RECORDING_FILE_TYPE_MP3' }],
  ['replace', { ...cleared, file_type: 'RECORDING_FILE_TYPE_WAV', description: 'new' }],
])('with --updates %s, fields that are left out and empty become: %j', (updates, changed) => {
  const state = newState({ updates });
  const at = Date.parse('2025-06-01T12:00:00Z');
  state.update(3n, { title: 'first', file_type: 'RECORDING_FILE_TYPE_MP3' }, at);
  const before = state.soundboard(3n);
  const given = { title: '', file_size: 0, file_type: 'RECORDING_FILE_TYPE_WAV', description: 'new' };
  expect(state.update(3n, given, at)).toEqual({ ...before, ...changed });
});

describe('a share of identifiers', () => {
  test('has its exact number of members in the first million', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (millionths) => {
        let count = 0;
        for (let id = 1; id <= 1_000_000; id++) if (isInShare(BigInt(id), millionths)) count++;
        expect(count).toBe(millionths);
      }),
      { numRuns: 4, examples: [[1_000_000]] },
    );
  });
});

import { expect, test } from 'vitest';
import { usageError } from '../../../../src/base/errors/errors.ts';
import { systemError } from '../../../../src/base/errors/system-error.ts';
import type { Journal } from '../../../../src/engine/journal/journal.ts';
import { isIntact } from '../../../../src/engine/run/record/run-journal.ts';
import type { RunStore } from '../../../../src/engine/run/record/store.ts';

const error = (code: string): Error => Object.assign(new Error(code), { code });
const ofSystem = (code: string): Error => systemError(error(code), 'runs/r/run.json') ?? error(code);
const wholeJournal = { isIntact: async () => true } as Journal;

test.each([
  ['EMFILE', ofSystem('EMFILE'), true],
  ['ENFILE', ofSystem('ENFILE'), true],
  ['EACCES', ofSystem('EACCES'), true],
  ['no record', usageError('RUN_UNKNOWN', 'There is no run r'), false],
  ['a damaged record', usageError('RUN_UNREADABLE', 'run.json is damaged'), false],
  ['no folder', ofSystem('ENOTDIR'), false],
])(
  'after %s, the folder of a run counts as changed only if something in it is',
  async (_what, failure, intact) => {
    const store = { load: () => Promise.reject(failure) } as unknown as RunStore;
    expect(await isIntact(store, 'r', wholeJournal)).toBe(intact);
    const journal = { isIntact: () => Promise.reject(error('EMFILE')) } as unknown as Journal;
    const readable = { load: async () => ({}) } as unknown as RunStore;
    expect(await isIntact(readable, 'r', journal)).toBe(true);
    expect(await isIntact(readable, 'r', { isIntact: async () => false } as Journal)).toBe(false);
  },
);

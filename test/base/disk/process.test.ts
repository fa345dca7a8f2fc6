import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { bootId, stateOfProcess, thisProcess } from '../../../src/base/disk/process.ts';

vi.mock('node:fs', { spy: true });

/** Lets one read fail, as on a system without /proc. */
function withoutProc(): void {
  vi.mocked(readFileSync).mockImplementationOnce(() => {
    throw Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' });
  });
}

test('a system without /proc has no boot id', () => {
  withoutProc();
  expect(bootId()).toBeUndefined();
});

test('a process is known without /proc by its number alone', () => {
  const here = thisProcess();
  expect(stateOfProcess({ ...here, started: '1' })).toBe('dead');
  withoutProc();
  expect(stateOfProcess({ ...here, started: '1' })).toBe('alive');
  withoutProc();
  expect(thisProcess()).toEqual({ ...here, started: '' });
});

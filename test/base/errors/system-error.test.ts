import { describe, expect, test } from 'vitest';
import { fatalError } from '../../../src/base/errors/errors.ts';
import { circumstance, systemError } from '../../../src/base/errors/system-error.ts';

function errno(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: words of the system`), { code, path: '/there' });
}

describe('an error of the system', () => {
  // Messages have two shapes; what to do then is a promise of each.
  test.each([
    ['ENOSPC', 'DISK_FULL', 'the disk of /there is full: free some space, then try again.'],
    ['EBUSY', 'FILE_IN_USE', 'another program has /there open: close that program, then try again.'],
    ['ENOENT', 'FILE_MISSING', "/there doesn't exist: create it or put it back, then try again."],
  ])('%s has the code %s and says what to do', (code, known, message) => {
    expect(systemError(errno(code))).toMatchObject({ code: known, kind: 'fatal', message });
  });

  test.each([
    ['DISK_FULL', ['EDQUOT']],
    ['DISK_READ_ONLY', ['EROFS']],
    ['DISK_FAILED', ['EIO']],
    ['FILE_FORBIDDEN', ['EACCES', 'EPERM']],
    ['TOO_MANY_FILES', ['EMFILE', 'ENFILE']],
    ['MEMORY_LIMIT', ['ENOMEM', 'ERR_WORKER_OUT_OF_MEMORY']],
    ['PATH_UNUSABLE', ['ENOTDIR', 'EISDIR', 'EEXIST', 'ELOOP', 'EXDEV', 'ENAMETOOLONG']],
  ])('%s is the code of %j', (known, codes) => {
    for (const code of codes) expect([code, systemError(errno(code))?.code]).toEqual([code, known]);
  });

  test('names the folder in which a file can not be written', () => {
    expect(systemError(errno('ENOENT'), '/nowhere/x.prom')?.message).toBe(
      "the folder of /nowhere/x.prom doesn't exist: create it, then try again.",
    );
  });

  test('names the place when the caller knows it better than the system, and what to type then', () => {
    const error = systemError(errno('ENOSPC'), 'runs/r');
    expect(error?.message).toBe('the disk of runs/r is full: free some space, then try again.');
    expect(error?.withNextStep('cqbatch resume r')).toMatchObject({
      message: 'the disk of runs/r is full: free some space, then cqbatch resume r',
      code: 'DISK_FULL',
    });
  });

  test.each([
    ['53100', 'could not extend file "base/5/24577": No space left on device', 'DISK_FULL'],
    ['58P01', 'could not open file "base/5/1": No such file or directory', 'FILE_MISSING'],
    ['XX000', 'could not write lock file: Read-only file system', 'DISK_READ_ONLY'],
  ])('is recognized by the words of PostgreSQL: %s %s', (code, message, known) => {
    expect(systemError(Object.assign(new Error(message), { code }))?.code).toBe(known);
  });

  test.each([
    'WebAssembly.Memory(): could not allocate memory',
    'WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance',
    'Array buffer allocation failed',
  ])('is recognized by the words of V8 for a limit of memory: %s', (message) => {
    expect(circumstance(new RangeError(message), 'queue')).toMatchObject({
      code: 'MEMORY_LIMIT',
      message: expect.stringContaining('reached its limit of memory: raise the limit'),
    });
  });

  test('is recognized by the number that PGlite gives', () => {
    expect(systemError({ name: 'ErrnoError', errno: 51 }, 'queue')?.code).toBe('DISK_FULL');
    expect(systemError({ name: 'ErrnoError', errno: 999 }, 'queue')).toBeUndefined();
  });

  test('is not an error that was already explained, a defect, or trouble of the network', () => {
    expect(systemError(fatalError('JOURNAL_CORRUPT', 'x', errno('ENOSPC')))).toBeUndefined();
    expect(systemError(new TypeError('x'))).toBeUndefined();
    expect(systemError(errno('ECONNREFUSED'))).toBeUndefined();
    expect(systemError(undefined)).toBeUndefined();
    expect(circumstance(errno('ENOENT'))).toBeUndefined();
    const explained = systemError(errno('ENOSPC'));
    expect(systemError(explained, 'elsewhere')).toBe(explained);
  });
});

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { NotAFileError } from '../disk/open-file.ts';
import type { ErrorCode } from './error-codes.ts';
import { CqbatchError } from './errors.ts';

/** The operating system refuses something: the disk is full, a file is missing. */
export class SystemError extends CqbatchError {
  readonly what: string;
  readonly #remedy: string;

  constructor(code: ErrorCode, what: string, remedy: string, cause: unknown, next = 'try again.') {
    super('fatal', code, `${what}: ${remedy}, then ${next}`, { cause });
    this.what = what;
    this.#remedy = remedy;
  }

  withNextStep(command: string): SystemError {
    return new SystemError(this.code, this.what, this.#remedy, this.cause, command);
  }
}

interface Rule {
  readonly code: ErrorCode;
  readonly remedy: string;
  /** What the error means; `%` stands for the file or folder. */
  readonly what: string;
  /** The C library's message, which is all that PostgreSQL reports. */
  readonly words: string;
  /** The error number in WebAssembly, which is all that PGlite reports. */
  readonly wasi: number;
}

const rule =
  (code: ErrorCode, remedy: string) =>
  (what: string, words: string, wasi: number): Rule => ({ code, remedy, what, words, wasi });

const diskFull = rule('DISK_FULL', 'free some space');
const diskReadOnly = rule(
  'DISK_READ_ONLY',
  'make the disk writable or choose another folder with --state-dir',
);
const failedRule = rule('DISK_FAILED', "see the system's log and repair the disk");
const fileForbidden = rule('FILE_FORBIDDEN', 'give this user access (chown, chmod)');
const fileInUse = rule('FILE_IN_USE', 'close that program');
const noMemory = rule(
  'MEMORY_LIMIT',
  'raise the limit ("ulimit -v unlimited": it counts addresses, of which WebAssembly reserves 10 GB at a time and uses few)',
);
const tooManyFiles = rule('TOO_MANY_FILES', 'raise the limit (as with "ulimit -n 1024")');

/** Errors by Node's code that prevent the use of stored data although the data are intact. */
const circumstances: Readonly<Record<string, Rule>> = {
  ENOSPC: diskFull('the disk of % is full', 'No space left on device', 51),
  EDQUOT: diskFull('the disk quota of % is used up', 'Quota exceeded', 19),
  EROFS: diskReadOnly('% is on a read-only disk', 'Read-only file system', 69),
  EIO: failedRule('the disk of % does not work (input/output error)', 'I/O error', 29),
  EACCES: fileForbidden('this user has no permission for %', 'Permission denied', 2),
  EPERM: fileForbidden('this user has no permission for %', 'Operation not permitted', 63),
  EBUSY: fileInUse('another program has % open', 'Resource busy', 10),
  EMFILE: tooManyFiles(
    'this process has reached its limit of open files',
    'No file descriptors available',
    33,
  ),
  ENOMEM: noMemory('this process has reached its limit of memory', 'Cannot allocate memory', 48),
  ENFILE: tooManyFiles('the system has no file descriptors left', 'Too many open files in system', 41),
};

const fileMissing = rule('FILE_MISSING', 'create it or put it back');
const pathUnusable = (remedy: string) => rule('PATH_UNUSABLE', remedy);
const pathInTheWay = pathUnusable('move it away');
const otherDisk = pathUnusable('choose a folder on the same disk');

/** Errors by Node's code, also for stored data that are missing, or are not what they should be. */
const rules: Readonly<Record<string, Rule>> = {
  ...circumstances,
  ENOENT: fileMissing("% doesn't exist", 'No such file or directory', 44),
  ENOTDIR: pathUnusable('correct it')('a part of the path % is not a folder', 'Not a directory', 54),
  EISDIR: pathInTheWay('% is a folder where a file should be', 'Is a directory', 31),
  EEXIST: pathInTheWay('% already exists, but is something else', 'File exists', 20),
  ELOOP: pathUnusable('correct them')('the symbolic links of % lead in a circle', 'Symbolic link loop', 32),
  EXDEV: otherDisk("% can't be moved to another disk", 'Cross-device link', 75),
  ENAMETOOLONG: pathUnusable('choose a shorter one')(
    'the path % is longer than the system allows',
    'Filename too long',
    37,
  ),
};

/**
 * Undefined for an error that is not of the operating system.
 *
 * @param place the file or folder, for errors that do not name it
 */
export function systemError(cause: unknown, place?: string): SystemError | undefined {
  return explainedError(cause, place, rules);
}

/** What one of the `circumstances` means; undefined for other errors. */
export function circumstance(cause: unknown, place?: string): SystemError | undefined {
  return explainedError(cause, place, circumstances);
}

export async function onDisk<Result>(place: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw systemError(error, place) ?? error;
  }
}

function explainedError(
  cause: unknown,
  place: string | undefined,
  explainable: Readonly<Record<string, Rule>>,
): SystemError | undefined {
  if (cause instanceof SystemError) return cause;
  if (cause instanceof CqbatchError || typeof cause !== 'object' || cause === null) return undefined;
  if (cause instanceof NotAFileError && explainable === rules) {
    const { code, remedy } = rules['EISDIR'] as Rule;
    return new SystemError(
      code,
      `${place ?? 'a file'} is a ${cause.kind} where a file should be`,
      remedy,
      cause,
    );
  }
  const code = codeOf(cause);
  const rule = code === undefined ? undefined : explainable[code];
  if (rule === undefined) return undefined;
  const { path: named } = cause as NodeJS.ErrnoException;
  const path = place ?? named;
  if (rule === rules['ENOENT'] && path !== undefined && !existsSync(dirname(path)))
    return new SystemError(rule.code, `the folder of ${path} doesn't exist`, 'create it', cause);
  const what = rule.what.replace('%', () => path ?? 'the state folder');
  return new SystemError(rule.code, what, rule.remedy, cause);
}

function codeOf(cause: object): string | undefined {
  const { code, errno, message, name } = cause as Partial<NodeJS.ErrnoException>;
  if (code !== undefined && Object.hasOwn(rules, code)) return code;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY' || (code === undefined && outOfMemory.test(message ?? '')))
    return 'ENOMEM';
  const codes = Object.keys(rules);
  if (name === 'ErrnoError') return codes.find((each) => rules[each]?.wasi === errno);
  if (code === undefined || !systemStates.test(code)) return undefined;
  return codes.find((each) => message?.endsWith(`: ${rules[each]?.words}`));
}

/** What V8 says where `ulimit -v` or a container refuses memory. */
const outOfMemory = /could not allocate memory|cannot allocate wasm memory|array buffer allocation failed/i;

/** SQLSTATEs of refusals by the system: 53 resources, 58 system errors, 42501 rights, XX errors without a class. */
const systemStates = /^(53|58|42501|XX)/;

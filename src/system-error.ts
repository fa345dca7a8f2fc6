import { CqbatchError } from './errors.ts';

/**
 * Something that the machine refuses: its disk is full, a file is not there. One sentence says what it is, what to do
 * about it, and what to type afterwards.
 */
export class SystemError extends CqbatchError {
  /** The part of the sentence that says what is wrong. */
  readonly what: string;
  readonly #remedy: string;

  constructor(code: string, what: string, remedy: string, cause: unknown, next = 'try again.') {
    super('fatal', code, `${what}: ${remedy}, then ${next}`, { cause });
    this.what = what;
    this.#remedy = remedy;
  }

  /** The same where something else is to be typed than the command that met it. */
  followedBy(command: string): SystemError {
    return new SystemError(this.code, this.what, this.#remedy, this.cause, command);
  }
}

interface Rule {
  readonly code: string;
  /** What is wrong with the file or folder at that place. */
  readonly what: (place: string) => string;
  readonly remedy: string;
  /** How the C library puts it, which is all that PostgreSQL tells. */
  readonly words: string;
  /** Its number in WebAssembly, which is all that PGlite tells. */
  readonly wasi: number;
}

const full = { code: 'DISK_FULL', remedy: 'free some space' } as const;
const forbidden = {
  code: 'FILE_FORBIDDEN',
  what: (place: string) => `this user may not use ${place}`,
  remedy: 'give it to this user (chown, chmod)',
} as const;
const files = { code: 'TOO_MANY_FILES', remedy: 'raise the limit (as with "ulimit -n 1024")' } as const;

/** What is stored is as it was; circumstances keep it from being used. */
const circumstances: Readonly<Record<string, Rule>> = {
  ENOSPC: {
    ...full,
    what: (place) => `the disk of ${place} is full`,
    words: 'No space left on device',
    wasi: 51,
  },
  EDQUOT: {
    ...full,
    what: (place) => `the disk quota of ${place} is used up`,
    words: 'Quota exceeded',
    wasi: 19,
  },
  EROFS: {
    code: 'DISK_READ_ONLY',
    what: (place) => `${place} is on a disk that can only be read`,
    remedy: 'make the disk writable or choose another folder with --state-dir',
    words: 'Read-only file system',
    wasi: 69,
  },
  EIO: {
    code: 'DISK_FAILED',
    what: (place) => `the disk of ${place} does not work (input/output error)`,
    remedy: "see the system's log and mend the disk",
    words: 'I/O error',
    wasi: 29,
  },
  EACCES: { ...forbidden, words: 'Permission denied', wasi: 2 },
  EPERM: { ...forbidden, words: 'Operation not permitted', wasi: 63 },
  EMFILE: {
    ...files,
    what: () => 'this process may not open as many files as it needs',
    words: 'No file descriptors available',
    wasi: 33,
  },
  ENFILE: {
    ...files,
    what: () => 'the system has no file descriptors left',
    words: 'Too many open files in system',
    wasi: 41,
  },
};

const path = { code: 'PATH_UNUSABLE' } as const;

/** What is stored is not where it should be, or not what it should be. */
const wrongPaths: Readonly<Record<string, Rule>> = {
  ENOENT: {
    code: 'FILE_MISSING',
    what: (place) => `${place} is not there`,
    remedy: 'put it back',
    words: 'No such file or directory',
    wasi: 44,
  },
  ENOTDIR: {
    ...path,
    what: (place) => `the path ${place} leads through something that is no folder`,
    remedy: 'correct it',
    words: 'Not a directory',
    wasi: 54,
  },
  EISDIR: {
    ...path,
    what: (place) => `${place} is a folder where a file should be`,
    remedy: 'move it away',
    words: 'Is a directory',
    wasi: 31,
  },
  EEXIST: {
    ...path,
    what: (place) => `${place} is there already, but not as what it should be`,
    remedy: 'move it away',
    words: 'File exists',
    wasi: 20,
  },
  ELOOP: {
    ...path,
    what: (place) => `the symbolic links of ${place} lead in a circle`,
    remedy: 'correct them',
    words: 'Symbolic link loop',
    wasi: 32,
  },
  ENAMETOOLONG: {
    ...path,
    what: (place) => `the path ${place} is longer than the system allows`,
    remedy: 'choose a shorter one',
    words: 'Filename too long',
    wasi: 37,
  },
};

const rules = { ...wrongPaths, ...circumstances };

/**
 * What an error of the system means for the user; undefined when it is none.
 *
 * @param place the file or folder that it is about, where the error itself does not say it.
 */
export function systemError(cause: unknown, place?: string): SystemError | undefined {
  return explained(cause, place, rules);
}

/** The same only for circumstances that keep from being used what is as it was: a full disk, missing rights. */
export function circumstance(cause: unknown, place?: string): SystemError | undefined {
  return explained(cause, place, circumstances);
}

/** Does something with a file or folder; what the system refuses is thrown as a `SystemError`. */
export async function onDisk<Result>(place: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw systemError(error, place) ?? error;
  }
}

function explained(
  cause: unknown,
  place: string | undefined,
  known: Readonly<Record<string, Rule>>,
): SystemError | undefined {
  if (cause instanceof SystemError) return cause;
  if (cause instanceof CqbatchError || typeof cause !== 'object' || cause === null) return undefined;
  const rule = ruleOf(cause, known);
  if (rule === undefined) return undefined;
  const { path: named } = cause as NodeJS.ErrnoException;
  return new SystemError(rule.code, rule.what(place ?? named ?? 'the state folder'), rule.remedy, cause);
}

/** By Node's code, by the number that WebAssembly has for it, or by PostgreSQL's words. */
function ruleOf(cause: object, known: Readonly<Record<string, Rule>>): Rule | undefined {
  const { code, errno, message, name } = cause as Partial<NodeJS.ErrnoException>;
  if (code !== undefined && known[code] !== undefined) return known[code];
  const all = Object.values(known);
  if (name === 'ErrnoError') return all.find(({ wasi }) => wasi === errno);
  if (code === undefined || !systemStates.test(code)) return undefined;
  return all.find(({ words }) => message?.endsWith(`: ${words}`));
}

/** SQLSTATEs of what the system refused: resources, system errors, rights, and where PostgreSQL knows none. */
const systemStates = /^(53|58|42501|XX)/;

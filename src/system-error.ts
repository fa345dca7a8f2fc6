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
  ENOSPC: { ...full, what: (place) => `the disk of ${place} is full` },
  EDQUOT: { ...full, what: (place) => `the disk quota of ${place} is used up` },
  EROFS: {
    code: 'DISK_READ_ONLY',
    what: (place) => `${place} is on a disk that can only be read`,
    remedy: 'make the disk writable or choose another folder with --state-dir',
  },
  EIO: {
    code: 'DISK_FAILED',
    what: (place) => `the disk of ${place} does not work (input/output error)`,
    remedy: "see the system's log and mend the disk",
  },
  EACCES: forbidden,
  EPERM: forbidden,
  EMFILE: { ...files, what: () => 'this process may not open as many files as it needs' },
  ENFILE: { ...files, what: () => 'the system has no file descriptors left' },
};

const path = { code: 'PATH_UNUSABLE' } as const;
const inTheWay = 'move it away';

/** What is stored is not where it should be, or not what it should be. */
const wrongPaths: Readonly<Record<string, Rule>> = {
  ENOENT: { code: 'FILE_MISSING', what: (place) => `${place} is not there`, remedy: 'put it back' },
  ENOTDIR: {
    ...path,
    what: (place) => `the path ${place} leads through something that is no folder`,
    remedy: 'correct it',
  },
  EISDIR: { ...path, what: (place) => `${place} is a folder where a file should be`, remedy: inTheWay },
  EEXIST: {
    ...path,
    what: (place) => `${place} is there already, but not as what it should be`,
    remedy: inTheWay,
  },
  ELOOP: {
    ...path,
    what: (place) => `the symbolic links of ${place} lead in a circle`,
    remedy: 'correct them',
  },
  EXDEV: {
    ...path,
    what: (place) => `${place} can't be moved to another disk`,
    remedy: 'let the folder where it goes be on the same disk',
  },
  ENAMETOOLONG: {
    ...path,
    what: (place) => `the path ${place} is longer than the system allows`,
    remedy: 'choose a shorter one',
  },
};

const rules = { ...wrongPaths, ...circumstances };

/** The C library's words for a code, which are all that PostgreSQL tells, and its number in WebAssembly, all that PGlite tells. */
const otherNames: Readonly<Record<string, { readonly words: string; readonly wasi: number }>> = {
  ENOSPC: { words: 'No space left on device', wasi: 51 },
  EDQUOT: { words: 'Quota exceeded', wasi: 19 },
  EROFS: { words: 'Read-only file system', wasi: 69 },
  EIO: { words: 'I/O error', wasi: 29 },
  EACCES: { words: 'Permission denied', wasi: 2 },
  EPERM: { words: 'Operation not permitted', wasi: 63 },
  EMFILE: { words: 'No file descriptors available', wasi: 33 },
  ENFILE: { words: 'Too many open files in system', wasi: 41 },
  ENOENT: { words: 'No such file or directory', wasi: 44 },
  ENOTDIR: { words: 'Not a directory', wasi: 54 },
  EISDIR: { words: 'Is a directory', wasi: 31 },
  EEXIST: { words: 'File exists', wasi: 20 },
  ELOOP: { words: 'Symbolic link loop', wasi: 32 },
  ENAMETOOLONG: { words: 'Filename too long', wasi: 37 },
};

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
  const code = codeOf(cause);
  const rule = code === undefined ? undefined : known[code];
  if (rule === undefined) return undefined;
  const { path: named } = cause as NodeJS.ErrnoException;
  return new SystemError(rule.code, rule.what(place ?? named ?? 'the state folder'), rule.remedy, cause);
}

/** Node's code for an error: its own, or the one with that number in WebAssembly, or with PostgreSQL's words. */
function codeOf(cause: object): string | undefined {
  const { code, errno, message, name } = cause as Partial<NodeJS.ErrnoException>;
  if (code !== undefined && Object.hasOwn(rules, code)) return code;
  const codes = Object.keys(otherNames);
  if (name === 'ErrnoError') return codes.find((each) => otherNames[each]?.wasi === errno);
  if (code === undefined || !systemStates.test(code)) return undefined;
  return codes.find((each) => message?.endsWith(`: ${otherNames[each]?.words}`));
}

/** SQLSTATEs of what the system refused: resources, system errors, rights, and where PostgreSQL knows none. */
const systemStates = /^(53|58|42501|XX)/;

import { usageError } from '../base/errors/errors.ts';

/** A rule for names that become parts of paths and keys. Each name is checked where it is read. */
export interface NameRule {
  readonly remedy: string;
  has(text: string): boolean;
  /** @throws a usage error for any other text */
  require(name: string): string;
}

function nameRule(what: string, pattern: RegExp, remedy: string): NameRule {
  const has = (text: string): boolean => pattern.test(text);
  return {
    remedy,
    has,
    require(name) {
      if (has(name)) return name;
      throw usageError('INVALID_SETTING', `${JSON.stringify(name)} can't be ${what}: ${remedy}.`);
    },
  };
}

/** Device names of Windows ("Naming Files, Paths, and Namespaces"). */
const noDevice = '(?!(?:con|prn|aux|nul|com\\d|lpt\\d)$)';
const howToWriteIds = (most: number): string =>
  `use up to ${most} lowercase letters, digits, "-" and "_", starting with a letter or digit, but no device name of Windows (con, nul, ` +
  'com1, …)';

/** A name for a folder on every system, and for a part of the names of queues and jobs. */
export const runIds = nameRule(
  'the id of a run',
  new RegExp(`^${noDevice}[a-z0-9][a-z0-9_-]{0,62}$`),
  howToWriteIds(63),
);

/** A name for a schedule: with a time added, it is the id of a run. */
export const scheduleNames = nameRule(
  'the name of a schedule',
  new RegExp(`^${noDevice}[a-z0-9][a-z0-9_-]{0,39}$`),
  howToWriteIds(40),
);

/** A name for a rate group, and for the file of the group's token. */
export const rateGroupNames = nameRule(
  'the name of a rate group',
  /^[\w-][\w.-]{0,63}$/,
  'write 1 to 64 letters, digits, "-", "_" or ".", the first of them no "."',
);

export const fileNames = nameRule(
  'the name of a file',
  /^(?!\.{1,2}$)[^/\\\0]+$/,
  'write a name without a folder',
);

import { FileTooLargeError, NotAFileError } from '../../../base/disk/open-file.ts';
import type { ErrorCode } from '../../../base/errors/error-codes.ts';
import { type CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { systemError } from '../../../base/errors/system-error.ts';
import { shellWord } from '../../../base/text/command-words.ts';
import { size } from '../../../base/text/format.ts';

/** A position in a text, from 1. Lines end with LF, CR LF or CR; columns count code points. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Why a text is no valid manifest; becomes a `usageError` with file, line and column. */
export class TextMistake extends Error {
  override readonly name = 'TextMistake';
  readonly code: ErrorCode;
  /** A position, or the offset of a byte (unzipped, with the byte order mark); undefined for the whole file. */
  readonly at: Position | number | undefined;

  constructor(code: ErrorCode, at: Position | number | undefined, problem: string) {
    super(problem);
    this.code = code;
    this.at = at;
  }
}

export function syntaxMistake(at: Position | number | undefined, problem: string): TextMistake {
  return new TextMistake('MANIFEST_SYNTAX', at, problem);
}

/** The mistake that an option has no effect on a file. @param what with what the option has an effect */
export function optionUnsuitable(option: string, what: string): TextMistake {
  return new TextMistake(
    'MANIFEST_OPTION_UNSUITABLE',
    undefined,
    `${option} only works with ${what}; leave it out`,
  );
}

export class PositionCounter {
  #line: number;
  #column = 1;
  #lastByte = 0;

  constructor(firstLine = 1) {
    this.#line = firstLine;
  }

  get position(): Position {
    return { line: this.#line, column: this.#column };
  }

  advance(byte: number): void {
    if (isLineEnd(byte)) {
      if (byte !== lineFeed || this.#lastByte !== carriageReturn) this.#line++;
      this.#column = 1;
    } else if ((byte & 0xc0) !== 0x80) {
      this.#column++;
    }
    this.#lastByte = byte;
  }
}

export function isLineEnd(byte: number): boolean {
  return byte === lineFeed || byte === carriageReturn;
}

/** Whether a byte ends a line. CR LF ends a line at its CR. */
export function endsLine(bytes: Buffer, index: number): boolean {
  return (
    bytes[index] === carriageReturn || (bytes[index] === lineFeed && bytes[index - 1] !== carriageReturn)
  );
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** The most bytes of a CSV record, an element of a JSON array or a line of JSON Lines; the most characters of a sheet's row. */
export const maxRecordBytes = 16 * 1024 * 1024;

export function manifestTooLarge(name: string, what: string, maxBytes: number): CqbatchError {
  return usageError(
    'MANIFEST_TOO_LARGE',
    `${name}: ${what} is larger than max_manifest_size (${size(maxBytes)}); split it, or raise that setting`,
  );
}

/** A hint for the name of a missing file: a pattern that is quoted, or matches nothing, arrives unexpanded. */
function patternHint(name: string): string {
  return /[*?]/.test(name)
    ? `; pass one file, or run each file that matches: cqbatch watch ${shellWord(name)}`
    : '';
}

export function readingError(name: string, error: unknown): unknown {
  if (error instanceof FileTooLargeError) return manifestTooLarge(name, 'the file', error.mostBytes);
  if (error instanceof NotAFileError)
    return usageError('MANIFEST_NOT_A_FILE', `${name}: this is a ${error.kind}, not a file`, error);
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return usageError('MANIFEST_NOT_FOUND', `${name}: there is no such file${patternHint(name)}`, error);
    case 'ENOTDIR':
    case 'ELOOP':
    case 'ENAMETOOLONG':
      return usageError('MANIFEST_NOT_FOUND', `${systemError(error, name)?.what}; correct it`, error);
    case 'EACCES':
    case 'EPERM':
      return usageError('MANIFEST_UNREADABLE', `${name}: no permission to read this file`, error);
    case 'Z_BUF_ERROR':
      return usageError(
        'MANIFEST_GZIP_TRUNCATED',
        `${name}: the gzip data ends early; copy or download the file again`,
        error,
      );
    case 'Z_DATA_ERROR':
      return usageError(
        'MANIFEST_GZIP_DAMAGED',
        `${name}: the gzip data is damaged (${(error as Error).message}); copy or download the file again`,
        error,
      );
    default:
      return error;
  }
}

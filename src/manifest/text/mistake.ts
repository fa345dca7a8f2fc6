/** A place in a text. Lines end with LF, CR LF or CR; columns count characters (code points). Both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Something by which a text is no manifest; becomes a `usageError` that names file, line and column. */
export class TextMistake extends Error {
  override readonly name = 'TextMistake';
  readonly code: string;
  /**
   * Where it is: a position, or the offset of a byte (after unzipping, byte order mark included); undefined for the
   * file as a whole.
   */
  readonly at: Position | number | undefined;

  constructor(code: string, at: Position | number | undefined, problem: string) {
    super(problem);
    this.code = code;
    this.at = at;
  }
}

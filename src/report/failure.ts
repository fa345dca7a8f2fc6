import { type CqbatchError, fatalError } from '../errors.ts';

export function unwritableReport(path: string, cause: unknown): CqbatchError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return fatalError(
    'REPORT_UNWRITABLE',
    `Cannot write ${path}: ${reason}. Make room on the disk, or close the file in other programs, then run ` +
      '`cqbatch report`: nothing that it is made from is lost.',
    cause,
  );
}

/** The manifest and the journal do not belong together: the report would leave something out. */
export function incompleteReport(problem: string): CqbatchError {
  return fatalError(
    'REPORT_INCOMPLETE',
    `The report would be incomplete: ${problem}. The run's copy of its manifest has changed since the run began; ` +
      'put the original file back (its SHA-256 is in run.json), then run `cqbatch report`.',
  );
}

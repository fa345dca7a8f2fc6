import { type CqbatchError, fatalError } from '../errors.ts';
import { circumstance } from '../system-error.ts';

export function unwritableReport(path: string, cause: unknown): CqbatchError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return (
    circumstance(cause, path) ??
    fatalError(
      'REPORT_UNWRITABLE',
      `Cannot write ${path}: ${reason}. Mend that, or close the file in other programs, then run \`cqbatch report\`.`,
      cause,
    )
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

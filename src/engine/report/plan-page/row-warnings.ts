import { hasLostCharacters, textBeforeMisreading } from '../../../base/text/lost-characters.ts';
import { isWordForNothing } from '../../../base/text/no-value.ts';
import type { Operation } from '../../operation/operation.ts';
import { DigestTable, subjectDigest } from '../../rows/digest-table.ts';
import type { CallableRow } from '../../rows/row.ts';
import type { RowWarning } from './plan-page-data.ts';

/** Finds what is odd about rows that are called. The plan has the same warnings with counts. */
export class RowWarnings {
  /** The first row of each subject. */
  readonly #subjects: DigestTable | undefined;

  /** @param hasConflicts whether some rows are about one entry */
  constructor(hasConflicts: boolean) {
    this.#subjects = hasConflicts ? new DigestTable(1) : undefined;
  }

  warningsOf(row: CallableRow, operation: Operation | undefined): readonly RowWarning[] {
    return [...this.#warningsOfRow(row), ...warningsOfValues(row, operation)];
  }

  #warningsOfRow(row: CallableRow): readonly RowWarning[] {
    const { operation, subject, unclear } = row;
    const warnings: RowWarning[] = [];
    if (unclear) warnings.push({ text: 'an earlier run may have done this already, without an answer' });
    const earlier = this.#earlierRow(row);
    if (earlier !== undefined)
      warnings.push({ text: `row ${earlier} is about ${operation.thing} ${subject}, too` });
    return warnings;
  }

  #earlierRow({ row, operation, subject }: CallableRow): number | undefined {
    const subjects = this.#subjects;
    if (subjects === undefined) return undefined;
    const key = subjectDigest({ operation: operation.name, subject });
    const entry = subjects.find(key);
    if (entry >= 0) return subjects.get(entry, 0);
    subjects.set(subjects.enter(key), 0, row);
    return undefined;
  }
}

function warningsOfValues(
  { operation: { fields }, values, old = {}, compared }: CallableRow,
  operation: Operation | undefined,
): readonly RowWarning[] {
  return fields.flatMap(({ name }) => {
    const value = values[name];
    if (value === undefined || (compared && old[name] === undefined)) return [];
    const expected = operation?.fields.find((field) => field.name === name)?.expectation?.(value);
    const texts = [
      isWordForNothing(value) && 'sent as it is; if it means nothing, empty the cell',
      expected !== undefined && `not ${expected}: the API may drop or refuse it`,
      hasLostCharacters(value) && 'characters were lost before: export the data again',
      textBeforeMisreading(value) !== undefined && 'looks as if read in a wrong encoding: see --encoding',
    ];
    return texts.flatMap((text) => (text === false ? [] : [{ field: name, text }]));
  });
}

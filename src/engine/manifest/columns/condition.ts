import { composed } from '../../../base/text/composed.ts';
import { readMoment } from '../../../base/text/moment.ts';
import { fieldNameOf } from '../../operation/field-names.ts';
import { excerpt } from '../../rows/problem.ts';

export interface Condition {
  readonly text: string;
  readonly column: string;
  /** The name of the column in the form of a field's: `deleted_by` for `Deleted by`. */
  readonly name: string;
  /** Whether a cell meets the condition. Undefined if the cell can't be compared with the value. */
  readonly isMetBy: (cell: string) => boolean | undefined;
  /** What a cell must be to be compared. */
  readonly kind: 'number' | 'time' | 'text';
  /** For `deleted_at=2026-11-16`, which only the first moment of the day meets: the day that is probably meant, and the next. */
  readonly day?: readonly [first: string, next: string] | undefined;
  /** The text to which the cell must be equal. Only for `=` and a text. */
  readonly wantedText?: string | undefined;
}

const conditionPattern = /^(?<column>.*?)(?<operator>!=|<=|>=|=|<|>|~)(?<value>.*)$/s;
const joinedConditions = /\s(?:and|or|&&|\|\|)\s.*(?:[=<>~])/is;

/** Reads a condition of `--where`. @throws RangeError with the correct form */
export function parseCondition(text: string): Condition {
  const { column = '', operator = '', value = '' } = conditionPattern.exec(text)?.groups ?? {};
  const title = column.trim();
  const wanted = composed(value.trim());
  if (title === '') throw new RangeError(`write a column, a comparison and a value, as "deleted_by=u-17"`);
  if (/^[=<>~]/.test(wanted))
    throw new RangeError(`${operator}${wanted.charAt(0)} is no comparison; write one of = != < <= > >= ~`);
  if (joinedConditions.test(value))
    throw new RangeError('write one condition for each --where; rows must match all of them');
  if (operator === '~' && wanted === '') throw new RangeError('write the part of a text behind ~');
  const read = [wholeOf, numberOf, readMoment].find((reads) => reads(wanted) !== undefined);
  if (/[<>]/.test(operator) && read === undefined)
    throw new RangeError(
      `${wanted === '' ? 'the value' : excerpt(wanted)} is no number and no time; write a number as 79.5, a date as 2026-11-16 ` +
        'or a time as 2026-11-16T10:00:00Z',
    );
  const condition = { text, column: title, name: fieldNameOf(title) };
  if (operator === '~')
    return { ...condition, kind: 'text', isMetBy: (cell) => composed(cell).includes(wanted) };
  const isMetBy = comparison(operator, wanted, read);
  if (read === undefined)
    return { ...condition, kind: 'text', isMetBy, wantedText: operator === '=' ? wanted : undefined };
  const kind = read === readMoment ? 'time' : 'number';
  return { ...condition, kind, isMetBy, day: operator === '=' ? dayOf(wanted) : undefined };
}

type ValueReader = (text: string) => number | bigint | undefined;

/**
 * Returns the test of a condition. Numbers and times compare only with cells that are such; texts compare with all cells, also empty ones.
 */
function comparison(operator: string, wanted: string, read: ValueReader | undefined): Condition['isMetBy'] {
  const test = operatorTests[operator] ?? isEqual;
  const value = read?.(wanted);
  if (read === undefined || value === undefined) return (cell) => test(composed(cell) === wanted ? 0 : 1);
  return (cell) => {
    const cellValue = read(cell) ?? (read === wholeOf ? numberOf(cell) : undefined);
    if (cellValue === undefined) return undefined;
    return test(cellValue < value ? -1 : cellValue > value ? 1 : 0);
  };
}

const isEqual = (order: number): boolean => order === 0;

const operatorTests: Readonly<Record<string, (order: number) => boolean>> = {
  '=': isEqual,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

/** The whole number of a text, as a bigint, because identifiers may exceed the digits of a JavaScript number. */
function wholeOf(text: string): bigint | undefined {
  return /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}

function numberOf(text: string): number | undefined {
  return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
}

function dayOf(text: string): Condition['day'] {
  const start = /^[\d/.-]+$/.test(text) ? readMoment(text) : undefined;
  if (start === undefined) return undefined;
  return [dateOf(start), dateOf(start + 24 * 3_600_000)];
}

function dateOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}

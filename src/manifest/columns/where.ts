import { usageError } from '../../errors.ts';
import { isLosslessNumber, stringifyJson } from '../../text/json.ts';
import type { Manifest, ManifestRow } from '../manifest.ts';
import { excerpt } from '../problem.ts';
import { fieldNameOf, fieldNamer } from './column-names.ts';

/** A condition on rows: a column, a comparison and a value. */
interface Condition {
  readonly text: string;
  readonly column: string;
  /** Matched like a field: `Deleted by` for `deleted_by`. */
  readonly name: string;
  readonly holds: (cell: string) => boolean;
}

const pattern = /^(?<column>.*?)(?<operator>!=|<=|>=|=|<|>|~)(?<value>.*)$/s;

/** @throws RangeError with the correct form */
export function parseCondition(text: string): Condition {
  const { column = '', operator = '', value = '' } = pattern.exec(text)?.groups ?? {};
  if (column.trim() === '')
    throw new RangeError(`write a column, a comparison and a value, as "deleted_by=u-17"`);
  const title = column.trim();
  return { text, column: title, name: fieldNameOf(title), holds: comparison(operator, value.trim()) };
}

/**
 * The manifest with only the rows that meet all conditions, numbered from 1. Unreadable rows are kept, because their cells are
 * unknown.
 *
 * @throws a usage error `WHERE_UNKNOWN_COLUMN` when no column matches a condition; for JSON after all rows were read
 */
export function chosenBy(texts: readonly string[], manifest: Manifest): Manifest {
  const conditions = texts.map(parseCondition);
  const nameOf = fieldNamer();
  let leftOut = 0;

  /** The title that a condition means. */
  function titleOf({ column, name }: Condition, titles: readonly string[]): string | undefined {
    return titles.includes(column) ? column : titles.find((title) => nameOf(title) === name);
  }
  function refuseUnknown(): void {
    const columns = manifest.columns();
    const missing = conditions.find((condition) => titleOf(condition, columns) === undefined);
    if (missing === undefined) return;
    const titles = columns.map((title) => `"${excerpt(title)}"`).join(', ');
    throw usageError(
      'WHERE_UNKNOWN_COLUMN',
      `--where "${excerpt(missing.text)}": ${manifest.name} has no column "${excerpt(missing.column)}"; it has ${titles}`,
    );
  }
  function isChosen({ cells, problem }: ManifestRow): boolean {
    if (problem !== undefined) return true;
    const titles = Object.keys(cells);
    return conditions.every((condition) => {
      const title = titleOf(condition, titles);
      return condition.holds(title === undefined ? '' : textOf(cells[title]));
    });
  }

  const isJson = manifest.format === 'json' || manifest.format === 'jsonl';
  if (!isJson) refuseUnknown();
  return {
    ...manifest,
    leftOut: () => leftOut,
    async *rows() {
      leftOut = 0;
      let row = 0;
      for await (const chunk of manifest.rows()) {
        const chosen = chunk.filter(isChosen).map((each) => ({ ...each, row: ++row }));
        leftOut += chunk.length - chosen.length;
        if (chosen.length > 0) yield chosen;
      }
      if (isJson) refuseUnknown();
    },
  };
}

/** An omitted cell counts as empty. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'object' && !isLosslessNumber(value)) return stringifyJson(value);
  return String(value).trim();
}

/** If the value is a number or a time, compares cells as such; other cells then match no order. */
function comparison(operator: string, value: string): (cell: string) => boolean {
  const read = [wholeOf, numberOf, timeOf].find((kind) => kind(value) !== undefined);
  const wanted = read?.(value);
  const order = (cell: string): number | undefined => {
    if (read === undefined || wanted === undefined) return orderOf(cell, value);
    const known = read(cell) ?? (read === wholeOf ? numberOf(cell) : undefined);
    return known === undefined ? undefined : orderOf(known, wanted);
  };
  const test = tests[operator] ?? (() => false);
  if (operator === '~') return (cell) => cell.includes(value);
  return (cell) => test(order(cell));
}

const tests: Readonly<Record<string, (order: number | undefined) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order !== undefined && order < 0,
  '<=': (order) => order !== undefined && order <= 0,
  '>': (order) => order !== undefined && order > 0,
  '>=': (order) => order !== undefined && order >= 0,
};

function orderOf<Value extends string | number | bigint>(a: Value, b: Value): number {
  return a === b ? 0 : a < b ? -1 : a > b ? 1 : 0;
}

/** BigInt: identifiers may exceed the digits of a JavaScript number. */
function wholeOf(text: string): bigint | undefined {
  return /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}

function numberOf(text: string): number | undefined {
  return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
}

const isoTime = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|[+-]\d\d:?\d\d)?)?$/;

/** Milliseconds. A date means its first moment; without a zone, UTC. */
function timeOf(text: string): number | undefined {
  const [, date, time = '00:00', zone = 'Z'] = isoTime.exec(text) ?? [];
  if (date === undefined) return undefined;
  const moment = Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(moment) ? undefined : moment;
}

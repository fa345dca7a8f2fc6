import type { Operation } from '../../../jobs/operation.ts';
import { usageError } from '../../errors.ts';
import { fieldNameOf, resembledField } from '../column-names.ts';
import { excerpt } from '../excerpt.ts';

/** How many columns a message lists. */
const shownColumns = 12;

/**
 * The name of the one operation whose required fields are all given, by a column or otherwise.
 *
 * @param givenFields fields that have a value without a column.
 * @throws CqbatchError (`usage`, `MANIFEST_OPERATION_UNCLEAR`) when there is none or several, with what to add.
 */
export function inferOperation({
  name: file,
  columns,
  givenFields,
  operations,
}: {
  readonly name: string;
  readonly columns: readonly string[];
  readonly givenFields: ReadonlySet<string>;
  readonly operations: readonly Operation[];
}): string {
  const present = new Set([...columns.map(fieldNameOf), ...givenFields]);
  const lackOf = (operation: Operation) =>
    operation.fields.filter(({ name, required }) => required && !present.has(name)).map(({ name }) => name);
  const suitable = operations.filter((operation) => lackOf(operation).length === 0);
  const [only, ...others] = suitable;
  if (only !== undefined && others.length === 0) return only.name;

  const verdict =
    only === undefined
      ? `suit no operation: ${operations.map((each) => `${each.name} lacks ${describe(lackOf(each), columns)}`).join('; ')}`
      : `suit several operations: ${suitable.map(({ name }) => name).join(', ')}`;
  throw usageError(
    'MANIFEST_OPERATION_UNCLEAR',
    `${file}: ${columns.length === 0 ? 'the rows have no columns, so they' : `the columns (${list(columns)})`} ${verdict}. ` +
      `${only === undefined ? 'Add what is missing' : 'Say --operation'}, or add a column "operation"`,
  );
}

function describe(fields: readonly string[], columns: readonly string[]): string {
  const described = fields.map((field) => {
    const similar = columns.find((column) => resembledField(column, [field]) !== undefined);
    if (similar !== undefined) return `${field} (is it "${excerpt(similar)}"?)`;
    return field === 'user_id' ? `${field} (--user-id gives it for all rows)` : field;
  });
  return described.join(' and ');
}

function list(columns: readonly string[]): string {
  const shown = columns.slice(0, shownColumns).map((column) => `"${excerpt(column)}"`);
  return columns.length > shownColumns ? `${shown.join(', ')}, …` : shown.join(', ');
}

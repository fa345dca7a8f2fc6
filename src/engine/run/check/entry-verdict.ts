import { shortened } from '../../../base/text/printable.ts';
import { isSame } from '../../list/compare-entry.ts';
import type { SeenEntry } from '../../list/entry-reader.ts';
import type { KnownEntry } from '../../list/listed-entries.ts';
import { listedWords, type OperationList } from '../../operation/list-definition.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Field, Row } from '../../operation/row-fields.ts';
import type { JudgedRow } from '../../report/check-file.ts';
import type { UnderstoodRow } from '../../rows/row.ts';

export type EntryVerdict = Pick<JudgedRow, 'check' | 'there'>;

type JudgedValues = Pick<UnderstoodRow, 'values' | 'old' | 'compared'>;

const asWanted = { check: 'as_wanted', there: '' } as const satisfies EntryVerdict;

const longestValue = 80;

/** Judges a row by the fields of its entry, undefined if the service does not list it. */
export function verdictByFields(
  row: JudgedValues,
  {
    fields,
    list,
  }: Pick<Operation, 'fields'> & { readonly list: Pick<OperationList, 'fields' | 'computed' | 'absent'> },
  entry: Pick<KnownEntry, 'fields'> | undefined,
): EntryVerdict {
  if (entry === undefined) return { check: 'gone', there: list.absent };
  const wanted = wantedValues(row);
  const differing = fields.flatMap((field) => {
    const { name } = field;
    const value = wanted[name];
    if (value === undefined || !list.fields.includes(name) || list.computed.includes(name)) return [];
    const there = entry.fields[name];
    if (isSame(field, value, there)) return [];
    return [there === undefined ? `${name} is empty` : `${name} is ${valueInWords(field, there)}`];
  });
  return differing.length === 0 ? asWanted : { check: 'not_as_wanted', there: differing.join(', ') };
}

/** The fields that the row changes. Of a whole entry, in which a field may be absent, these are the ones with an old value. */
function wantedValues({ values, compared, old = {} }: JudgedValues): Row {
  if (!compared) return values;
  return Object.fromEntries(Object.keys(old).map((name) => [name, values[name] ?? '']));
}

function valueInWords({ type }: Field, value: string): string {
  return type === 'integer' ? value : JSON.stringify(shortened(value, longestValue));
}

/** Judges a row whose entry leaves the list when the operation acts on it, and which is still there. */
export function verdictOfListed(
  list: Pick<OperationList, 'name'>,
  { unfit }: Pick<KnownEntry, 'unfit'>,
): EntryVerdict {
  const also = unfit === undefined ? '' : `, and ${unfit}`;
  return { check: 'not_as_wanted', there: `is still among the ${listedWords(list)}${also}` };
}

/** Judges a row whose entry has left the list. */
export function verdictOfSeen(seen: SeenEntry): EntryVerdict {
  if (seen.is === 'different') return { check: 'not_as_wanted', there: seen.what };
  return seen.is === 'done' ? asWanted : { check: 'gone', there: 'does not exist' };
}

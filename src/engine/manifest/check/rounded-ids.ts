import { trimBlanks } from '../../../base/text/blank.ts';
import type { Operation } from '../../operation/operation.ts';
import { type ColumnMap, fieldNamer } from '../columns/column-names.ts';
import type { Manifest, RoundedIds } from '../manifest.ts';

interface Rounding {
  readonly by: string;
  /** The least number of zeros at the end of an identifier that one program has rounded; infinite if the identifier can't be rounded so. */
  readonly zerosOf: (digits: string) => number;
}

const roundings: readonly Rounding[] = [
  { by: 'a spreadsheet leaves, which keeps 15 digits', zerosOf: (digits) => digits.length - 15 },
  { by: 'JavaScript leaves, which keeps 53 bits', zerosOf: zerosOfDouble },
  { by: 'jq and others leave, which keep 17 digits', zerosOf: zerosOf17Digits },
];

/** The number of zeros at the end of a rounded double. It stands for an interval of integers, whose digits become the zeros. */
function zerosOfDouble(digits: string): number {
  if (String(Number(digits)) !== digits) return Number.POSITIVE_INFINITY;
  const interval = 2 ** (Math.floor(Math.log2(Number(digits))) - 52);
  return Math.max(0, Math.floor(Math.log10(interval)));
}

function zerosOf17Digits(digits: string): number {
  if (digits.length > 17) return digits.length - 17;
  return BigInt(Number(digits)) === BigInt(digits) ? 0 : Number.POSITIVE_INFINITY;
}

/** From this many zeros on, identifiers were rounded: chance gives as many over all of them less than once in a million. */
const tellingZeros = 6;

/** Passes on the rows, and looks for rounded identifiers in all of them, also in those that `--where` leaves out. Takes constant memory. */
export function watchedForRounding(
  manifest: Manifest,
  operations: readonly Operation[],
  map: ColumnMap | undefined,
): Manifest {
  const fieldOf = fieldNamer(map, operations);
  const identifying = new Set(
    operations.flatMap(({ fields }) => fields.filter(({ type }) => type !== 'text').map(({ name }) => name)),
  );
  let watches: RoundingWatch[] = [];
  return {
    ...manifest,
    roundedIds: () => watches.flatMap((watch) => watch.found ?? []),
    async *rows() {
      watches = [];
      let examinedColumns: readonly string[] = [];
      for await (const chunk of manifest.rows()) {
        const columns = manifest.columns();
        if (columns !== examinedColumns) {
          const added = columns
            .slice(examinedColumns.length)
            .filter((column) => identifying.has(fieldOf(column)));
          watches.push(...added.map((column) => new RoundingWatch(column)));
          examinedColumns = columns;
        }
        for (const { cells } of chunk) for (const watch of watches) watch.add(cells[watch.column]);
        yield chunk;
      }
    },
  };
}

class RoundingWatch {
  readonly column: string;
  #ids = 0;
  /** Roundings that all identifiers may have had. Equal identifiers count once, because repetition proves nothing. */
  #possible = roundings.map((rounding) => ({ ...rounding, zeros: 0, counted: new Set<string>() }));

  constructor(column: string) {
    this.column = column;
  }

  add(cell: unknown): void {
    if (this.#possible.length === 0) return;
    const digits = longDigits(cell);
    if (digits === undefined) return;
    this.#ids++;
    const zeros = zerosAtEnd(digits);
    this.#possible = this.#possible.filter((rounding) => {
      const leastZeros = rounding.zerosOf(digits);
      if (leastZeros > 0 && rounding.zeros < tellingZeros && !rounding.counted.has(digits)) {
        rounding.counted.add(digits);
        rounding.zeros += leastZeros;
      }
      return zeros >= leastZeros;
    });
  }

  get found(): RoundedIds | undefined {
    const certain = this.#possible.find(({ zeros }) => zeros >= tellingZeros);
    return certain && { column: this.column, ids: this.#ids, by: certain.by };
  }
}

function zerosAtEnd(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return digits.length - end;
}

/** The digits of a cell with a long number. Undefined unless there are more than 15. */
function longDigits(cell: unknown): string | undefined {
  if (typeof cell !== 'string' && typeof cell !== 'number' && typeof cell !== 'bigint') return undefined;
  if (typeof cell === 'string' ? cell.length <= 15 : cell <= 999_999_999_999_999) return undefined;
  return /^0*([1-9]\d{15,})$/.exec(trimBlanks(String(cell)))?.[1];
}

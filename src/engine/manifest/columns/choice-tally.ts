import { shellWord } from '../../../base/text/command-words.ts';
import { count, counted } from '../../../base/text/format.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { excerpt } from '../../rows/problem.ts';
import type { RowChoice } from '../manifest.ts';
import type { Condition } from './condition.ts';

const keptValues = 10_000;
const shownValues = 5;
const maxValueLength = 200;

/** Counts the values that rows have, to explain a choice of no rows or of unexpected ones. */
export class ChoiceTally implements RowChoice {
  chosen = 0;
  leftOut = 0;
  undecided = 0;
  readonly #conditions: readonly ConditionTally[];

  constructor(conditions: readonly Condition[]) {
    this.#conditions = conditions.map((condition) => new ConditionTally(condition));
  }

  /**
   * Whether the conditions choose a row.
   *
   * @param place of the row, for people
   * @param cells the text of each condition's column
   */
  judge(place: string, cells: readonly string[]): boolean {
    const verdicts = this.#conditions.map(({ condition }, index) => condition.isMetBy(cells[index] ?? ''));
    const isChosen = verdicts.every((verdict) => verdict === true);
    if (isChosen) this.chosen++;
    else this.leftOut++;
    const isUndecided = !isChosen && !verdicts.includes(false);
    if (isUndecided && verdicts.some((verdict, index) => verdict === undefined && cells[index] !== ''))
      this.undecided++;
    for (const [index, each] of this.#conditions.entries()) {
      const cell = cells[index] ?? '';
      if (isUndecided && verdicts[index] === undefined) each.noteIncomparable(place, cell);
      if (this.chosen === 0) each.noteValue(cell, verdicts[index] === true);
    }
    return isChosen;
  }

  get incomparable(): readonly string[] {
    return this.#conditions.flatMap((each) => each.incomparableText ?? []);
  }

  whyNothing(): string {
    const unmet = this.#conditions.filter(({ met }) => met === 0);
    if (unmet.length > 0) return unmet.map((each) => each.unmetText).join(' ');
    const parts = this.#conditions.map(
      ({ condition, met }) => `${optionOf(condition.text)} for ${counted(met, 'row')}`,
    );
    return `No row meets all conditions, although each holds for some rows: ${parts.join(', ')}.`;
  }
}

class ConditionTally {
  met = 0;
  readonly condition: Condition;
  readonly #incomparable = { rows: 0, empty: 0 };
  #firstIncomparable: { readonly place: string; readonly value: string } | undefined;
  readonly #values = new Map<string, number>();
  #hasMore = false;

  constructor(condition: Condition) {
    this.condition = condition;
  }

  noteIncomparable(place: string, value: string): void {
    this.#incomparable.rows++;
    if (value === '') this.#incomparable.empty++;
    const first = this.#firstIncomparable;
    if (first === undefined || (first.value === '' && value !== ''))
      this.#firstIncomparable = { place, value: excerpt(value) };
  }

  noteValue(cell: string, isMet: boolean): void {
    if (isMet) this.met++;
    const value = cell.slice(0, maxValueLength);
    const rows = this.#values.get(value);
    if (rows === undefined && this.#values.size >= keptValues) this.#hasMore = true;
    else this.#values.set(value, (rows ?? 0) + 1);
  }

  get incomparableText(): string | undefined {
    if (this.#firstIncomparable === undefined) return undefined;
    const { kind, text, column } = this.condition;
    const { rows, empty } = this.#incomparable;
    const { place, value } = this.#firstIncomparable;
    const what = kind === 'time' ? 'no time that begins with the year' : 'no number';
    const others = empty === 0 ? '' : `; ${count(empty)} ${empty === 1 ? 'is' : 'are'} empty`;
    const [fault, first] = rows === empty ? ['empty', ''] : [what, `, "${value}"${others}`];
    const [cells, rest] = rows === 1 ? ['1 cell is', 'its row'] : [`${count(rows)} cells are`, 'their rows'];
    return `${excerpt(column)}: ${cells} ${fault} (first: ${place}${first}), so ${optionOf(text)} leaves ${rest} out`;
  }

  get unmetText(): string {
    const { text, column, wantedText, day } = this.condition;
    const common = [...this.#values].toSorted(([, a], [, b]) => b - a);
    const shown = common.slice(0, shownValues).map(([value, rows]) => `${nameOf(value)} (${count(rows)})`);
    const more = this.#hasMore || common.length > shownValues ? ', …' : '';
    const alike = common.find(
      ([value]) => wantedText !== undefined && foldedOf(value) === foldedOf(wantedText),
    )?.[0];
    const remedies = [
      ...(alike === undefined ? [] : [`Do you mean ${optionOf(`${column}=${alike}`)}?`]),
      ...(day === undefined
        ? []
        : [
            `A date is its first moment; the whole day is ${day.map((date, index) => optionOf(`${column}${index === 0 ? '>=' : '<'}${date}`)).join(' ')}.`,
          ]),
    ];
    return [
      `No row meets ${optionOf(text)}: ${excerpt(column)} has ${shown.join(', ')}${more}.`,
      ...remedies,
    ].join(' ');
  }
}

function optionOf(condition: string): string {
  return `--where ${escapeInvisible(shellWord(condition))}`;
}

function nameOf(value: string): string {
  return value === '' ? 'empty cells' : excerpt(value);
}

function foldedOf(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ');
}

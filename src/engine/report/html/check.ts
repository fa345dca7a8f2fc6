import { count, counted } from '../../../base/text/format.ts';
import { localTime } from '../../../base/text/local-time.ts';
import { type CheckVerdict, checkText, checkVerdicts } from '../../../domain/terms.ts';
import type { RunCheck } from '../check-file.ts';
import { type Markup, markup } from './markup.ts';
import type { PageData } from './page-data.ts';

/** The counts of a check, in words: `57 as wanted, 2 not as wanted, 1 gone`. */
export function checkCounts(
  { counts }: Pick<RunCheck, 'counts'>,
  styled: (verdict: CheckVerdict, text: string) => string = (_, text) => text,
): string {
  const found = checkVerdicts.filter((each) => counts[each] > 0);
  return found.map((each) => styled(each, `${count(counts[each])} ${checkText(each)}`)).join(', ');
}

/** What `cqbatch check` found. */
export function checkOf({ check }: PageData): Markup {
  if (check === undefined) return undefined;
  const { checked_at, first, unclear } = check;
  const odd = first.map(({ row, entry, check: verdict, there }) =>
    markup('li', {}, `Row ${count(row)}, ${entry}: ${verdict === 'gone' ? 'gone' : there}`),
  );
  const more = check.counts.not_as_wanted + check.counts.gone - first.length;
  return markup(
    'section',
    { 'aria-label': 'Check' },
    markup('h2', {}, `Checked at ${localTime(checked_at)}`),
    markup(
      'p',
      {},
      markup('span', { class: `state ${isAsWanted(check) ? 'good' : 'attention'}` }, checkCounts(check)),
      '. The entries may have changed since.',
    ),
    unclear.rows > 0 &&
      markup(
        'p',
        {},
        `Of ${counted(unclear.rows, 'unclear row')} that failed, ${were(unclear.done)} done and ${were(unclear.not_done)} not.`,
      ),
    odd.length > 0 && markup('ul', {}, ...odd),
    more > 0 && markup('p', { class: 'note' }, `check.csv has ${count(more)} more.`),
  );
}

function isAsWanted({ counts }: Pick<RunCheck, 'counts'>): boolean {
  return counts.not_as_wanted + counts.gone === 0;
}

function were(rows: number): string {
  return `${count(rows)} ${rows === 1 ? 'was' : 'were'}`;
}

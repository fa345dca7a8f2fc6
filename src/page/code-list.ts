import type { PageData } from '../report/html/page-data.ts';
import { counted } from '../text/quantities.ts';
import { element, outcomeText } from './dom.ts';

/** What needs a look comes first. */
const needsLook = ['failed', 'invalid', 'not_attempted'];

/** The codes with which rows ended, each with what it means and an example; a click chooses its rows. */
export function codeList(
  { summary: { codes }, advice }: Pick<PageData, 'summary' | 'advice'>,
  onChoice: (code: string) => void,
): HTMLElement {
  const troubled = codes.filter(({ outcome }) => needsLook.includes(outcome));
  const others = codes.filter(({ outcome }) => !needsLook.includes(outcome));
  const items = [...troubled, ...others].map(({ outcome, code, count, message, row }) => {
    const { meaning = '', remedy } = advice[code] ?? {};
    const whatToDo = remedy === undefined || outcome === 'succeeded' ? [] : [` ${remedy}`];
    return element(
      'li',
      {},
      element(
        'h3',
        {},
        element('span', { class: `outcome ${outcome}` }, outcomeText(outcome)),
        ' ',
        element(
          'button',
          { type: 'button', id: `code ${outcome} ${code}`, click: () => onChoice(code) },
          `${code} `,
          element('span', {}, counted(count, 'row')),
        ),
      ),
      element('p', {}, meaning, ...whatToDo),
      ...(message === '' ? [] : [element('p', { class: 'quiet' }, `Row ${row}: ${message}`)]),
    );
  });
  return element('ul', { class: 'codes' }, ...items);
}

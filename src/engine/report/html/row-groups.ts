import { outcomes, outcomeText } from '../../../domain/terms.ts';
import type { StepGroup } from '../next-step.ts';
import { type Markup, markup } from './markup.ts';
import type { PageData } from './page-data.ts';
import { outcomesInNeed } from './verdict.ts';

/** A group of rows by what they need. `attention` has the rows that failed or are invalid. */
type BaseGroup = Exclude<StepGroup, 'all unclear'> | 'attention';

export type RowGroup = BaseGroup | `${BaseGroup} unclear`;

const groupTexts: ReadonlyMap<string, string> = new Map([
  ['all', 'rows'],
  ['attention', 'failed or invalid'],
  ['retry', 'to retry'],
  ['correct', 'to correct'],
  ['decide', 'to decide'],
]);

export const rowGroups: readonly RowGroup[] = [
  'all',
  'attention',
  ...outcomes,
  'all unclear',
  'retry',
  'correct',
  'decide',
];

/** The name of a group, in words: `failed or invalid`, `failed`, `unclear`; with a second group, `failed, unclear`. */
export function groupText(group: RowGroup): string {
  const [base, unclear] = partsOf(group);
  if (group === 'all unclear') return 'unclear';
  const text = groupTexts.get(base) ?? outcomeText(base);
  return unclear ? `${text}, unclear` : text;
}

export function isInGroup(
  group: RowGroup,
  data: Pick<PageData, 'advice'>,
): (outcome: string, code: string, unclear: boolean) => boolean {
  const [base, onlyUnclear] = partsOf(group);
  return (outcome, code, unclear) => {
    if (onlyUnclear && !unclear) return false;
    if (base === 'all' || base === outcome) return true;
    const needs = (outcomesInNeed as readonly string[]).includes(outcome);
    return needs && (base === 'attention' || data.advice[code]?.step === base);
  };
}

export function countOf(group: RowGroup, data: Pick<PageData, 'advice' | 'messages'>): number {
  const [isIn, onlyUnclear] = [isInGroup(group, data), partsOf(group)[1]];
  return data.messages
    .filter(({ outcome, code, unclear }) => isIn(outcome, code, unclear > 0))
    .reduce((sum, { count, unclear }) => sum + (onlyUnclear ? unclear : count), 0);
}

function partsOf(group: RowGroup): readonly [base: string, unclear: boolean] {
  const [base = '', unclear] = group.split(' ');
  return [base, unclear !== undefined];
}

export function groupLink(group: RowGroup, ...content: readonly Markup[]): Markup {
  return markup('a', { href: '#rows', id: `show ${group}`, 'data-show': group }, ...content);
}

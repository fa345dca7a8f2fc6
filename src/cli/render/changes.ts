import { count, counted } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { listedWords } from '../../engine/operation/list-definition.ts';
import { excerpt } from '../../engine/rows/problem.ts';
import { type RowCounts, subjectsOf } from '../../engine/rows/row-counts.ts';
import type { Change } from '../../engine/run/plan/change-file.ts';
import type { ComparedRows } from '../../engine/run/plan/check-manifest.ts';
import { indented, moreText } from './words.ts';

/** Rows of a plan, perhaps compared with what the service lists. */
export interface PlannedChanges {
  readonly scan: RowCounts;
  readonly compared?: ComparedRows | undefined;
}

/** What has been asked of the API when a plan is shown. */
export function sentText({ compared }: Pick<PlannedChanges, 'compared'>): string {
  if (compared === undefined) return 'Nothing was sent.';
  const read = compared.lists.map(({ list, listed }) => `${count(listed)} ${listedWords({ name: list })}`);
  return `Read ${read.length === 0 ? 'nothing' : read.join(' and ')}. Nothing was changed.`;
}

/** `30 entries change, 31 fields; 2,970 rows change nothing and are left out`, and the first changes. */
export function changesText({ scan, compared }: PlannedChanges): string {
  if (compared === undefined) return '';
  const { fields, first, file } = compared;
  const entries = subjectsOf(scan);
  const changing = entries === 1 ? '1 entry changes' : `${count(entries)} entries change`;
  const nothing = `${counted(scan.asWanted, 'row', ['changes', 'change'])} nothing and ${scan.asWanted === 1 ? 'is' : 'are'} left out`;
  const facts = [
    fields === 0 ? changing : `${changing}, ${counted(fields, 'field')}`,
    ...(scan.asWanted === 0 ? [] : [nothing]),
  ];
  const head = `Compared with what is there: ${facts.join('; ')}`;
  if (first.length === 0) return head;
  const more = fields - first.length;
  return [
    `${head}:`,
    indented([...first.map(changeText), ...(more > 0 ? [moreText(more)] : [])]),
    ...(file === undefined ? [] : [`All changes, field by field: ${escapeInvisible(file)}`]),
  ].join('\n');
}

/** `row 3: soundboard 43, title "Greeting" → "Greeting (new)"` */
function changeText({ row, thing, subject, field, old, new: is }: Change): string {
  return `row ${row}: ${thing} ${escapeInvisible(subject)}, ${field} ${valueText(old)} → ${valueText(is)}`;
}

function valueText(text: string): string {
  return text === '' ? '(empty)' : `"${excerpt(text)}"`;
}

export function changesDocument({ scan, compared }: PlannedChanges): object {
  if (compared === undefined) return {};
  return {
    compared: {
      lists: compared.lists,
      entries: subjectsOf(scan),
      fields: compared.fields,
      as_wanted: scan.asWanted,
      first: compared.first.map(({ thing: _, subject: id, ...change }) => ({ ...change, id })),
      file: compared.file ?? null,
    },
  };
}

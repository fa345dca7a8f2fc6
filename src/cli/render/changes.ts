import { count, counted } from '../../base/text/format.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { listedWords } from '../../engine/operation/list-definition.ts';
import { type RowCounts, subjectsOf } from '../../engine/rows/row-counts.ts';
import type { ComparedRows } from '../../engine/run/plan/check-manifest.ts';
import type { Fact } from './words.ts';

/** The rows of a plan, perhaps compared with what the service lists. */
export interface PlannedChanges {
  readonly scan: RowCounts;
  readonly compared?: ComparedRows | undefined;
}

/** What a plan has asked of the API so far. */
export function sentText({ compared }: Pick<PlannedChanges, 'compared'>): string {
  if (compared === undefined) return 'Nothing was sent.';
  const read = compared.lists.map(({ list, listed }) => `${count(listed)} ${listedWords({ name: list })}`);
  return `Read ${read.length === 0 ? 'nothing' : read.join(' and ')}. Nothing was changed.`;
}

/** What a comparison found: `2 fields of 2 entries change; 198 rows change nothing and are left out` */
export function changesTexts({ scan, compared }: PlannedChanges): readonly string[] {
  if (compared === undefined) return [];
  const { changedFields } = compared;
  const { asWanted } = scan;
  const entries = subjectsOf(scan) === 1 ? '1 entry' : `${count(subjectsOf(scan))} entries`;
  const facts = [
    ...(changedFields === 0
      ? []
      : [`${counted(changedFields, 'field')} of ${entries} ${changedFields === 1 ? 'changes' : 'change'}`]),
    ...(asWanted === 0
      ? []
      : [
          `${counted(asWanted, 'row', ['changes', 'change'])} nothing and ${asWanted === 1 ? 'is' : 'are'} left out`,
        ]),
  ];
  return [`compared with what is there${facts.length === 0 ? '' : `: ${facts.join('; ')}`}`];
}

export function changesFact({ compared }: Pick<PlannedChanges, 'compared'>): Fact {
  const { file } = compared ?? {};
  return ['Changes:', file && `${escapeInvisible(file)} has all, field by field`];
}

export function changesDocument({ scan, compared }: PlannedChanges): object {
  if (compared === undefined) return {};
  return {
    compared: {
      lists: compared.lists,
      entries: subjectsOf(scan),
      fields: compared.changedFields,
      as_wanted: scan.asWanted,
      first: compared.firstChanges.map(({ thing: _, subject: id, ...change }) => ({ ...change, id })),
      file: compared.file ?? null,
    },
  };
}

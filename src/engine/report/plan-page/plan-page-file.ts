import { createFile, exists, replaceFile } from '../../../base/disk/files.ts';
import { readFileParts } from '../../../base/disk/open-file.ts';
import { usageError } from '../../../base/errors/errors.ts';
import { onDisk } from '../../../base/errors/system-error.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import type { Operation } from '../../operation/operation.ts';
import { openRows } from '../../rows/rows-file.ts';
import { pageParts, pageStart } from '../html/page-file.ts';
import { PackedPlan } from './packed-plan.ts';
import { planEnd, planHead, planVerdict } from './plan-head.ts';
import type { PlanFacts, PlanPageContent } from './plan-page-data.ts';

/** The page in the folder of a run that asked for consent. */
export const planPageFile = 'plan.html';

/**
 * The page of a plan, in parts.
 *
 * @param path of the file of rows: what is shown is what is sent
 */
export async function planPage(
  operations: readonly Operation[],
  path: string,
  facts: PlanFacts,
): Promise<readonly string[]> {
  const { head, rows } = await openRows(path);
  const plan = new PackedPlan({ head, operations });
  for await (const part of rows()) await plan.add(part);
  return planPageParts(await plan.content(facts));
}

/** Writes a page into the folder of a run, where it may replace an earlier one. */
export function writeRunPage(path: string, page: readonly string[]): Promise<void> {
  return onDisk(path, () => replaceFile(path, page));
}

/**
 * Writes a page where the user wants it. It replaces only another plan's page, because the name may be a slip.
 *
 * @throws a usage error `PAGE_EXISTS`
 */
export async function writeUserPage(path: string, page: readonly string[]): Promise<void> {
  await refuseOtherFile(path);
  await onDisk(path, async () => {
    if (!(await createFile(path, page))) await replaceFile(path, page);
  });
}

/** Refuses to replace a file. @throws a usage error `PAGE_EXISTS` when something else than a plan's page is there */
export async function refuseOtherFile(path: string): Promise<void> {
  if (!(await exists(path)) || isPlanPage(await beginningOf(path))) return;
  throw usageError(
    'PAGE_EXISTS',
    `${escapeInvisible(path)} already exists and is no page of a plan: remove it, or choose another name.`,
  );
}

async function beginningOf(path: string): Promise<string> {
  return onDisk(path, async () => {
    for await (const part of readFileParts(path, { partBytes: 1_000 })) return part.toString('utf8');
    return '';
  });
}

/** The parts of a plan's page, which is self-contained. */
export function planPageParts(content: PlanPageContent): Promise<readonly string[]> {
  const { data } = content;
  return pageParts({
    name: 'plan',
    title: `${planVerdict(data)} (${data.source.name})`,
    shown: [planHead(data), planEnd(data)],
    withoutScripts: 'Without it, the terminal shows the plan.',
    content,
  });
}

export function isPlanPage(text: string): boolean {
  return text.startsWith(pageStart('plan'));
}

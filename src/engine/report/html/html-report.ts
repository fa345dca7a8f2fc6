import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere, removeIfPossible, replaceFile } from '../../../base/disk/files.ts';
import type { RunCheck } from '../check-file.ts';
import { unwritableReport } from '../csv-file.ts';
import { contentIn } from './page-content.ts';
import type { PageContent } from './page-data.ts';
import { pageParts } from './page-file.ts';
import { reportHead, reportSummary } from './report-head.ts';
import { verdictOf } from './verdict.ts';

/**
 * Writes a self-contained page. Its head is plain HTML, for readers without scripts.
 *
 * @throws a fatal error `REPORT_UNWRITABLE`
 */
export async function writeHtmlReport(folder: string, content: PageContent): Promise<string> {
  const path = join(folder, 'report.html');
  try {
    await replaceFile(path, await partsOf(content));
  } catch (error) {
    // Remove the page of an earlier report, which would contradict the other files.
    await removeIfPossible(path);
    throw unwritableReport(path, error);
  }
  return path;
}

/**
 * Shows a check in the page of a report, in place of an earlier one, and the next steps after it; nothing else of the page changes. Leaves
 * alone a report without a page.
 *
 * @param check absent for the report of a retry: the report of its first run shows the check
 * @throws a fatal error `REPORT_UNWRITABLE`
 */
export async function showCheck(
  folder: string,
  check: RunCheck | undefined,
  stepsOf: (summary: PageContent['data']['summary']) => Promise<PageContent['data']['steps']>,
): Promise<void> {
  const text = await ifThere(readFile(join(folder, 'report.html'), 'utf8'));
  const content = text === undefined ? undefined : contentIn<PageContent>(text);
  if (content === undefined) return;
  const steps = await stepsOf(content.data.summary);
  await writeHtmlReport(folder, { ...content, data: { ...content.data, steps, ...(check && { check }) } });
}

function partsOf(content: PageContent): Promise<readonly string[]> {
  const { data } = content;
  return pageParts({
    name: 'report',
    title: `${verdictOf(data).text} (${data.run.id})`,
    shown: [reportHead(data), reportSummary(data)],
    withoutScripts: 'Without it, open report.csv, which has all rows.',
    content,
  });
}

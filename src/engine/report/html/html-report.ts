import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere, removeIfPossible, replaceFile } from '../../../base/disk/files.ts';
import { packageRoot } from '../../../base/package.ts';
import type { RunCheck } from '../check-file.ts';
import { unwritableReport } from '../csv-file.ts';
import { escapeMarkup, htmlOf } from './markup.ts';
import type { PageContent } from './page-data.ts';
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
    await replaceFile(path, await pageParts(content));
  } catch (error) {
    // A page of an earlier report would contradict the other files.
    await removeIfPossible(path);
    throw unwritableReport(path, error);
  }
  return path;
}

/**
 * Shows a check in the page of a report, in place of an earlier one; nothing else of the page changes. Leaves alone a report without a page.
 *
 * @throws a fatal error `REPORT_UNWRITABLE`
 */
export async function showCheck(folder: string, check: RunCheck): Promise<void> {
  const text = await ifThere(readFile(join(folder, 'report.html'), 'utf8'));
  const start = text?.indexOf(contentStart) ?? -1;
  if (text === undefined || start < 0) return;
  const from = start + contentStart.length;
  const content = JSON.parse(text.slice(from, text.indexOf('</script>', from))) as PageContent;
  await writeHtmlReport(folder, { ...content, data: { ...content.data, check } });
}

const contentStart = '<script type="application/json" id="content">';

async function pageParts(content: PageContent): Promise<readonly string[]> {
  const { data } = content;
  const [script = '', style = '', icon = ''] = await Promise.all(
    ['report.js', 'report.css', 'icon.svg'].map((name) =>
      readFile(new URL(`dist/page/${name}`, packageRoot), 'utf8'),
    ),
  );
  const code = script.replaceAll('</script', '<\\/script');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(code)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return [
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeMarkup(`${verdictOf(data).text} (${data.run.id})`)}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<style>${style}</style>
</head>
<body>
<main id="page" aria-busy="true">
${htmlOf(reportHead(data))}
${htmlOf(reportSummary(data))}
<noscript><p class="note" id="rows">The rows need JavaScript. Without it, open report.csv, which has all rows.</p></noscript>
</main>
${contentStart}`,
    inScript(JSON.stringify(content)),
    `</script>
<script type="module">${code}</script>\n</body>\n</html>\n`,
  ];
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function inScript(json: string): string {
  return json.replaceAll('<', '\\u003c');
}

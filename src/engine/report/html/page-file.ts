import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { packageRoot } from '../../../base/package.ts';
import { escapeMarkup, htmlOf, type Markup } from './markup.ts';
import { contentStart } from './page-content.ts';

interface PageFile {
  /** The name of the page's script and style sheet: `dist/page/report.js`, `dist/page/report.css`. */
  readonly name: 'report' | 'plan';
  readonly title: string;
  /** The page for readers without scripts. The script draws it again. */
  readonly shown: Markup;
  /** Where readers without scripts find the rows. */
  readonly withoutScripts: string;
  /** The data that the script of the page reads. */
  readonly content: object;
}

/** The text with which a page of this kind begins. */
export function pageStart(name: PageFile['name']): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="cqbatch ${name}">
`;
}

/** The parts of a self-contained page, which requests nothing. */
export async function pageParts({
  name,
  title,
  shown,
  withoutScripts,
  content,
}: PageFile): Promise<readonly string[]> {
  const [script = '', style = '', icon = ''] = await Promise.all(
    [`${name}.js`, `${name}.css`, 'icon.svg'].map((file) =>
      readFile(new URL(`dist/page/${file}`, packageRoot), 'utf8'),
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
    `${pageStart(name)}<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeMarkup(title)}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<style>${style}</style>
</head>
<body>
<main id="page" aria-busy="true">
${htmlOf(shown)}
<noscript><p class="note" id="rows">The rows need JavaScript. ${escapeMarkup(withoutScripts)}</p></noscript>
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

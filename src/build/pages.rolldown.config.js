import { readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

const icon = readFileSync('src/pages/browser/icon.svg', 'utf8').trim();
const style = (name) => `src/pages/browser/style/${name}.css`;
const common = [
  'node_modules/uplot/dist/uPlot.min.css',
  ...['tokens', 'base', 'outcomes', 'summary', 'codes', 'charts', 'rows', 'media'].map(style),
];
const ofPlan = [
  ...['tokens', 'base', 'outcomes', 'summary', 'rows', 'media'].map(style),
  'src/pages/browser/plan/style.css',
];
const ofDashboard = [
  ...common,
  ...[
    'plan/style',
    'dashboard/style',
    'dashboard/overview/needs',
    'dashboard/overview/tables',
    'start/style',
  ].map((name) => `src/pages/browser/${name}.css`),
];
const output = { dir: 'dist/page', format: 'esm', minify: true };

/** The scripts and style sheets of report.html, a plan's page and the dashboard. They share no chunks, because a page can load no other file. */
export default defineConfig([
  {
    input: { report: 'src/pages/browser/main.ts' },
    platform: 'browser',
    plugins: [asset('icon.svg', () => icon), asset('report.css', () => styleSheet(common))],
    output: { ...output, cleanDir: true },
  },
  {
    input: { plan: 'src/pages/browser/plan/main.ts' },
    platform: 'browser',
    plugins: [asset('plan.css', () => styleSheet(ofPlan))],
    output,
  },
  {
    input: { dashboard: 'src/pages/browser/dashboard/main.ts' },
    platform: 'browser',
    plugins: [asset('dashboard.css', () => styleSheet(ofDashboard))],
    output,
  },
]);

/** A style sheet with the icon in it: a report can load no other file. */
function styleSheet(files) {
  const sheet = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  return withoutLightDark(
    sheet.replaceAll('url("icon.svg")', `url("data:image/svg+xml,${encodeURIComponent(icon)}")`),
  );
}

/** The sheet for browsers without `light-dark()`, such as Firefox 115. Paper has the light colors. */
function withoutLightDark(sheet) {
  const dark = [];
  const light = sheet.replaceAll(
    /(--[\w-]+): light-dark\((#\w+|rgba\([^)]*\)), (#\w+|rgba\([^)]*\))\);/g,
    (_, name, onLight, onDark) => {
      dark.push(`${name}: ${onDark};`);
      return `${name}: ${onLight};`;
    },
  );
  return `${light}\n@media screen and (prefers-color-scheme: dark) {\n:root { ${dark.join(' ')} }\n}\n`;
}

function asset(fileName, make) {
  return {
    name: fileName,
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source: make() });
    },
  };
}

import { readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

const common = [
  'node_modules/uplot/dist/uPlot.min.css',
  ...['base', 'summary', 'charts', 'rows', 'media'].map((name) => `src/page/style/${name}.css`),
];
const output = { dir: 'dist/page', format: 'esm', minify: true };

/**
 * Builds the script and the style sheet of report.html, and those of the dashboard. They share no chunks, because a script
 * in a report can load no other file.
 */
export default defineConfig([
  {
    input: { report: 'src/page/main.ts' },
    platform: 'browser',
    plugins: [styleSheet('report.css', common)],
    output: { ...output, cleanDir: true },
  },
  {
    input: { dashboard: 'src/page/dashboard/main.ts' },
    platform: 'browser',
    plugins: [styleSheet('dashboard.css', [...common, 'src/page/dashboard/style.css'])],
    output,
  },
]);

function styleSheet(fileName, files) {
  return {
    name: 'style-sheet',
    generateBundle() {
      const source = files.map((file) => readFileSync(file, 'utf8')).join('\n');
      this.emitFile({ type: 'asset', fileName, source });
    },
  };
}

import { readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

/** Makes the script and the style sheet that stand in every report.html. */
export default defineConfig({
  input: { report: 'src/page/main.ts' },
  platform: 'browser',
  plugins: [
    {
      name: 'style-sheet',
      generateBundle() {
        const files = ['node_modules/uplot/dist/uPlot.min.css', 'src/page/style.css'];
        const source = files.map((file) => readFileSync(file, 'utf8')).join('\n');
        this.emitFile({ type: 'asset', fileName: 'report.css', source });
      },
    },
  ],
  output: { dir: 'dist/page', cleanDir: true, format: 'esm', minify: true },
});

import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

test.each(['src/pages/browser/main.ts', 'src/pages/browser/dashboard/main.ts'])(
  'the script of %s imports nothing that a browser lacks, such as modules of Node',
  async (input) => {
    const bundle = await rolldown({ input, platform: 'browser', onLog: () => {} });
    const { output } = await bundle.generate({ format: 'esm' });
    await bundle.close();
    expect(output.flatMap((each) => (each.type === 'chunk' ? each.imports : []))).toEqual([]);
  },
);

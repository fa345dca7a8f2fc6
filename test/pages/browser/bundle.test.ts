import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

test.each(['main.ts', 'plan/main.ts', 'dashboard/main.ts'])(
  'the script of %s imports nothing that a browser lacks, such as modules of Node',
  async (script) => {
    const bundle = await rolldown({
      input: `src/pages/browser/${script}`,
      platform: 'browser',
      onLog: () => {},
    });
    const { output } = await bundle.generate({ format: 'esm' });
    await bundle.close();
    expect(output.flatMap((each) => (each.type === 'chunk' ? each.imports : []))).toEqual([]);
  },
);

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startAtTerminal } from '../helpers/cqbatch.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { drawn, type Version } from './drawing.ts';
import { address, answer, play, sandboxOptions, screen, suspend } from './session.ts';
import { type Terminal, textOf } from './terminal.ts';

/** In seconds. What appears within `frame` appears at once. */
const pace = { beforeLine: 1.2, key: 0.032, beforeSuspension: 3.6, end: 4.5, frame: 0.05 };

test('records docs/images/recording.svg', async () => {
  const sandbox = startAtTerminal(['sandbox', ...sandboxOptions], { cwd: await temporaryFolder() });
  const [greeting] = await once(sandbox.stdout ?? sandbox, 'data');
  expect(String(greeting)).toContain(`http://${address}`);

  const lines: Version[][] = [];
  const tops = [{ from: 0, line: 0 }];
  const startedAt = performance.now();
  const now = (): number => Math.ceil((performance.now() - startedAt) / 1_000 / pace.frame) * pace.frame;
  const settings = { CQBATCH_BASE_URL: `http://${address}`, CQBATCH_TOKEN: 'sandbox-token', NO_PROXY: '*' };

  await play(settings, typeSlowly, see);

  const recording = { lines, tops, seconds: now() + pace.end, ...screen };
  await writeFile('docs/images/recording.svg', drawn(recording, 'A run, kill -9, and resume'));

  function see(current: Terminal['lines']): void {
    const from = now();
    for (const [index, cells] of current.entries()) {
      const versions = lines[index] ?? [];
      lines[index] = versions;
      const last = versions.at(-1);
      if (last === undefined ? cells.length === 0 : isSame(last.cells, cells)) continue;
      if (last?.from === from) versions.pop();
      versions.push({ from, cells: [...cells] });
    }
    const line = Math.max(0, current.length - screen.rows);
    if (line === tops.at(-1)?.line) return;
    if (tops.at(-1)?.from === from) tops.pop();
    tops.push({ from, line });
  }
});

async function typeSlowly(line: string, shell: Writable): Promise<void> {
  await setTimeout(pace.beforeLine * 1_000);
  for (const key of `${line}\n`) {
    await setTimeout(pace.key * 1_000);
    shell.write(key);
  }
  if (line !== answer) return;
  await setTimeout(pace.beforeSuspension * 1_000);
  shell.write(suspend);
}

function isSame(some: Version['cells'], others: Version['cells']): boolean {
  return textOf(some) === textOf(others);
}

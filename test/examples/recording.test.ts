import { expect, test } from 'vitest';
import { commandsOf } from './console-blocks.ts';
import { recordingOf } from './recording.ts';

test('the recording of the README matches the page on a first run, which a test types', async () => {
  const shown = ['cqbatch plan export.csv', 'cqbatch run export.csv', 'cqbatch retry'];
  const page = commandsOf('docs/first-run.md');
  const scenes = shown.map((command) => page.find(({ line }) => line.startsWith(command)));
  expect(scenes).not.toContain(undefined);
  const recording = recordingOf(
    scenes.filter((scene) => scene !== undefined),
    'A first run: plan, run, retry',
  );
  await expect(recording).toMatchFileSnapshot('../../docs/images/first-run.svg');
});

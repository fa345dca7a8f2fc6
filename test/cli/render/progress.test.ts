import { expect, test } from 'vitest';
import { progressLines } from '../../../src/cli/render/progress.ts';
import { withoutMarks } from '../../../src/cli/render/style.ts';
import { now, progressScenes } from '../../engine/run/facts/progress-scenes.ts';
import { runFacts } from '../../helpers/run-facts.ts';
import { readable, scenes } from './scenes.ts';

test('the progress line shows the done rows, their outcomes, the rate and what it waits for', async () => {
  const drawn = scenes(progressScenes, (changes) =>
    readable(progressLines(runFacts(changes), undefined, now).join('\n')),
  );
  await expect(drawn.replaceAll(/ UTC(?:[+-]\d+(?::\d\d)?)?/g, ' UTC')).toMatchFileSnapshot(
    '../screens/progress-line.txt',
  );
});

test.each([
  [0, 0, '·············'],
  [6_000, 0, '██████·······'],
  [11_999, 1, '████████████░'],
  [106, 4, '█░···········'],
  [1, 11_998, '█░░░░░░░░░░░·'],
])(
  '%d succeeded and %d failed rows of 12,000 are a bar on a screen of 80 columns: %s %s',
  (succeeded, failed, bar) => {
    const { counts } = runFacts();
    const [line = ''] = progressLines(runFacts({ counts: { ...counts, succeeded, failed } }), 80);
    expect(withoutMarks(line)).toMatch(new RegExp(`^${bar}  4,512/12,000 `));
  },
);

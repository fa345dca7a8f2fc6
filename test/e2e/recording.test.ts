import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeWithProgram } from '../helpers/describe-with-program.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { lastLines } from '../recording/drawing.ts';
import { answer, play, sandboxOptions, screen, suspend } from '../recording/session.ts';
import { textOf } from '../recording/terminal.ts';

/**
 * The words that every session prints. Numbers other than those of all rows, where lines break, bars and curves, progress, and messages of
 * the shell differ from one to the next. The progress of a slow run is longer than a line, and `^Z` ends it.
 */
function comparable(lines: readonly string[]): string {
  return lines
    .filter((line) => !/^ +[▁-█]|^[█░·]+ +[\d,]+\/1,200 |\^Z$|^\[1\]/.test(line))
    .map((line) => (line.length === screen.columns ? line : `${line} `))
    .join('')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ until (?:\d+ \w+ )?[\d:]+ UTC/g, '')
    .replaceAll(/\d{8}-\d{6}-\w{4}/g, 'ID')
    .replaceAll(/ after (?:\d+ min(?: \d+ s)?|[\d.]+ m?s)\b/g, '')
    .replaceAll(/\d+(?:[.,:]\d+)*/g, (number) => (/^1,?200$/.test(number) ? number : 'N'));
}

const file = 'docs/images/recording.svg';

describeWithProgram(['curl'], 'the recording of the README', () => {
  test('shows what its session prints: each row is changed once', async () => {
    const svg = readFileSync(file, 'utf8');
    expect(svg.length).toBeLessThan(500_000);
    const sandbox = await startSandbox(...sandboxOptions);
    let printed: readonly string[] = [];
    await play(
      sandbox.env,
      async (line, shell) => {
        // From the calls in flight when the run is suspended until it is resumed, nothing is answered.
        if (line === 'cqbatch resume') sandbox.configure({ latency: '0ms' });
        shell.write(`${line.replace('200/s', '600/s')}\n`);
        if (line !== answer) return;
        await sandbox.requested(300);
        sandbox.configure({ latency: '1h' });
        // Several calls in flight, as in the recording, also on a slow machine.
        await sandbox.requested(305);
        shell.write(suspend);
      },
      (lines) => {
        printed = lines.map(textOf);
      },
    );
    expect(comparable(printed)).toBe(comparable(lastLines(svg)));
    expect(comparable(printed)).toContain('{"requests":N,"committed":1200 ');
  });
});

import { afterEach, expect, test } from 'vitest';
import { screen } from '../../src/cli/output.ts';

const streams = [process.stdin, process.stderr] as const;
const usual = streams.map(({ isTTY }) => isTTY);

function attach(...terminals: readonly boolean[]): void {
  for (const [index, stream] of streams.entries()) stream.isTTY = terminals[index] as boolean;
}

afterEach(() => attach(...usual));

test.each([
  [true, true, undefined],
  [false, true, 'standard input, where you would answer, is not a terminal (does < or | redirect it?)'],
  [
    true,
    false,
    'standard error, where the question would appear, is not a terminal (does 2> or 2>&1 redirect it?)',
  ],
  [false, false, 'standard input and standard error are not terminals'],
])(
  'the streams that keep a question from being asked are named (input %s, error %s)',
  (input, error, why) => {
    attach(input, error);
    expect(screen.whyMute).toBe(why);
  },
);

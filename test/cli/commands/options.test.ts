import { expect, onTestFinished, test, vi } from 'vitest';
import { runWords, sayIfTomorrow } from '../../../src/cli/commands/options.ts';
import type { Terminal } from '../../../src/cli/terminal.ts';

test('the options of a plan are repeated in the command for its run', () => {
  expect(
    runWords({
      baseUrl: 'https://api.example.com',
      rate: '20/s',
      skipInvalid: true,
      skipDone: ['a', 'b c'],
      map: ['Nr=evaluation_id'],
      canary: '3,random',
      maxFailures: '2%',
      maxRows: '100',
      stopAt: '06:00 Europe/London',
      html: false,
      stateDir: 'runs',
      tokenCommand: 'print a-secret',
      json: true,
      quiet: 1,
      out: 'x.cqplan',
    }).join(' '),
  ).toBe(
    '--base-url https://api.example.com --rate 20/s --skip-invalid --skip-done a --skip-done b c --map Nr=evaluation_id ' +
      '--canary 3,random --max-failures 2% --max-rows 100 --stop-at 06:00 Europe/London --no-html --state-dir runs',
  );
});

test.each([
  ['06:00', ['--stop-at 06:00 has passed today: the run stops at 06:00 tomorrow.']],
  ['18:00', []],
])('--stop-at %s at noon says when it means tomorrow', async (time, expected) => {
  vi.useFakeTimers({ now: new Date(2026, 10, 25, 12), toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const said: string[] = [];
  const terminal = { say: (text: string) => said.push(text) } as unknown as Terminal;
  await sayIfTomorrow({ terminal, settings: { stopAt: { time } } });
  expect(said).toEqual(expected);
});

import { expect, test } from 'vitest';
import { runWords } from '../../../src/cli/actions/options.ts';

test('what was typed for a plan is typed again for its run, whatever it is', () => {
  expect(
    runWords({
      ...{ baseUrl: 'https://api.example.com', rate: '20/s', skipInvalid: true, skipDone: ['a', 'b c'] },
      ...{
        map: ['Nr=evaluation_id'],
        canary: '3,random',
        maxFailures: '2%',
        maxRows: '100',
        stopAt: '06:00 Europe/London',
      },
      ...{ html: false, stateDir: 'runs', json: true, quiet: 1, out: 'x.cqplan', approvedBy: 'Ana' },
    }).join(' '),
  ).toBe(
    '--base-url https://api.example.com --rate 20/s --skip-invalid --skip-done a --skip-done b c --map Nr=evaluation_id ' +
      '--canary 3,random --max-failures 2% --max-rows 100 --stop-at 06:00 Europe/London --no-html --state-dir runs',
  );
});

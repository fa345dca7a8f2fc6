import { expect, test } from 'vitest';
import {
  historyDocument,
  historyText,
  listText,
  type ScheduleView,
  scheduleText,
  timesText,
} from '../../../src/cli/render/schedule.ts';
import { withoutMarks } from '../../../src/cli/render/style.ts';
import { noOutcomes } from '../../../src/domain/terms.ts';
import { nightly } from '../../daemon/schedule/nightly.ts';

const run = { state: 'completed' as const, counts: { ...noOutcomes(), succeeded: 2, failed: 1 } };

const noon = '2026-07-04T12:00:05.000Z';

const view: ScheduleView = {
  schedule: {
    ...nightly,
    options: { rate: '20/s', skipInvalid: true, skipDone: ['a', 'b'], html: false },
    changes: nightly.changes.map((each) => ({
      ...each,
      by: { user: 'ann', host: 'one' },
      reason: 'exports',
    })),
  },
  state: {
    version: 1,
    history: [
      { result: 'missed', due: '2026-06-30T01:00:00.000Z', at: '2026-07-01T09:00:00.000Z' },
      { result: 'skipped', due: '2026-07-01T01:00:00.000Z', until: '2026-07-02T01:00:00.000Z', because: 'a' },
      { result: 'idle', due: '2026-07-03T01:00:00.000Z' },
      { result: 'failed', due: '2026-07-04T01:00:00.000Z', at: '', code: 'X', message: 'no such file' },
      {
        result: 'began',
        due: noon,
        trigger: { at: noon },
        at: '',
        runs: ['a', 'gone'],
        refused: ['b.csv'],
      },
    ],
  },
  next: [new Date('2026-07-05T01:00:00.000Z')],
  triggered: undefined,
  run: (id) => (id === 'a' ? run : undefined),
};
const year = new Date().getFullYear() === 2026 ? '' : ' 2026';

test('a schedule is listed in its time zone, with the next times and the last result', () => {
  expect(withoutMarks(listText([view], 80, Date.parse('2026-07-04T22:30:00.000Z')))).toBe(
    [
      'nightly  0 2 * * *  Europe/London  /data/nightly.csv',
      `  next  in 2 h 30 min: Sun 5 Jul${year} 02:00`,
      `  last  Sat 4 Jul${year} 13:00:05 (triggered): a completed, 2 succeeded, 1 failed; gone (removed or damaged since); b.csv refused`,
    ].join('\n'),
  );
});

test('a schedule is shown with its options as flags, and with the user and reason of the last change', () => {
  const text = withoutMarks(scheduleText(view));
  expect(text).toContain('options   --rate 20/s --skip-invalid --skip-done a --skip-done b --no-html\n');
  expect(text).toContain('catch-up  up to 1 h late\n');
  expect(text).toContain('added     2026-11-01 00:00 UTC by ann on one: exports\n');
  expect(withoutMarks(scheduleText({ ...view, next: [], schedule: { ...nightly, paused: true } }))).toContain(
    'next      paused\n',
  );
});

test('a schedule has a history with the result of each entry, latest first', () => {
  expect(withoutMarks(historyText(view)).replaceAll(year, '').split('\n').slice(2)).toEqual([
    'Sat 4 Jul 02:00                 failed: no such file',
    'Fri 3 Jul 02:00                 the inbox was empty',
    'Wed 1 Jul 02:00                 skipped: a was in progress (until Thu 2 Jul 02:00)',
    'Tue 30 Jun 02:00                missed: no daemon started it in time',
  ]);
  const runs = [
    { run: 'a', outcomes: { succeeded: 2 } },
    { run: 'gone', state: null },
  ];
  expect(historyDocument(view)).toMatchObject({
    history: [
      { result: 'began', runs, refused: ['b.csv'] },
      { result: 'failed', error: { code: 'X', message: 'no such file' } },
      { result: 'idle' },
      { result: 'skipped', because: 'a', until: '2026-07-02T01:00:00.000Z' },
      { result: 'missed' },
    ],
  });
  const never = historyText({ ...view, state: { version: 1, history: [] } });
  expect(never).toContain('has not been due yet. Next: Sun');
});

test('a schedule shows the year unless it is the current one', () => {
  expect(timesText([new Date('2032-02-29T00:00:00.000Z')], 'UTC')).toBe('Sun 29 Feb 2032 00:00');
});

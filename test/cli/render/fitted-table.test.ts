import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fittedTable, type TableColumn } from '../../../src/cli/render/fitted-table.ts';
import { styled, widthOf, withColors, withoutMarks } from '../../../src/cli/render/style.ts';

const columns: readonly TableColumn[] = [
  { title: 'run' },
  { title: 'state' },
  { title: 'duration', mayBeLeftOut: true },
  { title: 'failed', isNumber: true },
  { title: 'API', mayBeCut: true, sentenceIfEqual: (api, runs) => `${runs === 1 ? 'At' : 'All at'} ${api}.` },
  { title: 'manifest', mayBeCut: true },
];

const manifest = 'agents-of-the-third-quarter.csv';
const api = 'api.example.com';
const rows = [
  ['jsur', styled('green', 'completed'), '1 s', '3', api, 'a.csv'],
  ['y7sd', styled('red', 'halted'), '3 min 20 s', '1,200', api, manifest],
];

const shown = (screen: number | undefined, cells = rows) =>
  fittedTable(columns, cells, screen).map(withoutMarks);

test('what all rows have in common is said once', () => {
  expect(shown(80)).toEqual([
    'All at api.example.com.',
    'run   state      duration    failed  manifest',
    'jsur  completed  1 s              3  a.csv',
    `y7sd  halted     3 min 20 s   1,200  ${manifest}`,
  ]);
  expect(shown(80, rows.slice(0, 1))[0]).toBe('At api.example.com.');
});

test('a name is cut in the middle until the table fits', () => {
  expect(shown(50)).toEqual([
    'All at api.example.com.',
    'run   state      duration    failed  manifest',
    'jsur  completed  1 s              3  a.csv',
    'y7sd  halted     3 min 20 s   1,200  agents…er.csv',
  ]);
});

test('before a name is cut too short, the least important column goes', () => {
  expect(shown(40)).toEqual([
    'All at api.example.com.',
    'run   state      failed  manifest',
    'jsur  completed       3  a.csv',
    'y7sd  halted      1,200  agents-…ter.csv',
  ]);
});

test('what does not fit stands below each other', () => {
  expect(shown(32)).toEqual([
    'All at api.example.com.',
    'jsur  completed',
    '  duration 1 s, failed 3,',
    '  manifest a.csv',
    'y7sd  halted',
    '  duration 3 min 20 s,',
    '  failed 1,200,',
    '  manifest agents-of-…uarter.csv',
  ]);
});

test('rows that differ keep their column', () => {
  const other = [...rows, ['x', 'running', '', '0', 'http://127.0.0.1:8791', '']];
  expect(shown(120, other)[0]).toContain('API');
});

test('where text is not for a screen, all columns are there', () => {
  expect(shown(undefined)).toEqual([
    'run   state      duration    failed  API              manifest',
    'jsur  completed  1 s              3  api.example.com  a.csv',
    `y7sd  halted     3 min 20 s   1,200  api.example.com  ${manifest}`,
  ]);
});

test('cells keep their colors, and show what is invisible', () => {
  const [, , line = ''] = fittedTable(columns, [['a\u001b[2J', styled('red', 'halted'), '', '', '', '']], 80);
  expect(withColors(line)).toContain('\u001b[31mhalted\u001b[39m');
  expect(withoutMarks(line)).toContain('a\\u001b[2J');
});

const cell = fc.string({ maxLength: 40 });

test('no line is wider than a screen on which the first two cells fit', () => {
  const row = fc.tuple(
    fc.constant('id'),
    fc.constant('state'),
    fc.constant('1 s'),
    fc.nat().map(String),
    cell,
    cell,
  );
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 30, max: 120 }),
      (cells, screen) => {
        const lines = fittedTable(columns, cells, screen).filter((line) => !/^(?:All a|A)t /.test(line));
        expect(lines.filter((line) => widthOf(line) > screen)).toEqual([]);
      },
    ),
  );
});

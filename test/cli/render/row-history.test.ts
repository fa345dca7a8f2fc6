import { expect, test } from 'vitest';
import { rowDocument, rowText } from '../../../src/cli/render/row-history.ts';
import type { RowHistory } from '../../../src/engine/run/report/row-history.ts';
import { resultOf } from '../../engine/journal/arbitraries.ts';
import { plannedRecord } from '../../engine/run/planned-record.ts';
import { callableRow, invalidRow, leftOutRow } from '../../helpers/planned-row.ts';
import { scenes } from './scenes.ts';

const story: RowHistory = {
  record: plannedRecord,
  row: invalidRow(7, ['7', null, 'a\u001b[2J'], {
    problems: [{ column: 'evaluation_id', problem: 'bad' }],
  }),
  columns: ['evaluation_id', 'title', 'note', 'more'],
  request: undefined,
  runs: [
    {
      record: plannedRecord,
      row: 7,
      result: resultOf(7, { outcome: 'failed', code: 'UNAVAILABLE', message: 'away', attempts: 40 }),
      attempts: [
        {
          at: '2026-01-01T10:00:00.000Z',
          durationMs: 12,
          code: 'UNAVAILABLE',
          httpStatus: 503,
          requestId: 'req-1',
          message: 'no',
        },
        {},
        { at: '2026-01-01T10:00:01.000Z', durationMs: 5, code: 'UNAVAILABLE', omitted: 36 },
        { at: '2026-01-01T10:00:03.005Z', durationMs: 12_000, code: 'UNAVAILABLE', message: 'w '.repeat(60) },
      ],
      traceId: 'f'.repeat(32),
      untold: 0,
      answers: [
        {
          row: 7,
          at: '2026-01-01T10:00:00.000Z',
          status: 503,
          headers: { 'retry-after': '1' },
          body: '{"code":"UNAVAILABLE"}\u001b',
        },
      ],
    },
  ],
};

const put = { method: 'PUT', path: '/rows/7', body: '{"a":1}' } as const;

test('shows cells, request, attempts, waits and outcome of a row in 80 columns', async () => {
  const cases: readonly (readonly [what: string, story: Partial<RowHistory>])[] = [
    ['an invalid row', {}],
    ['a request', { row: callableRow(7, ['7']), request: put }],
    ['a request without a body', { row: callableRow(7, ['7']), request: { path: '/rows/7', body: '' } }],
    ['a row whose request is not known', { row: callableRow(7, ['7']) }],
    ['a row that is left out', { row: leftOutRow(7, { why: 'duplicate', of: 3 }) }],
  ];
  const here = scenes(cases, (changes) => rowText({ ...story, ...changes }));
  // The same in each time zone.
  const text = here
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d(?=:\d\d\.\d{3})/g, '2026-01-01 10:00')
    .replaceAll(/UTC[+-][\d:]*\d/g, 'UTC');
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  await expect(text).toMatchFileSnapshot('../screens/row-history.txt');
});

test('shows a row as a document', () => {
  expect(rowDocument(story)).toMatchObject({
    row: 7,
    line: 8,
    operation: null,
    request: null,
    problems: [{ problem: 'bad' }],
    // Absent cells are not there.
    cells: { evaluation_id: '7', note: 'a\u001b[2J' },
    runs: [
      {
        outcome: 'failed',
        attempts: [
          { http_status: 503, waited_ms: null },
          { at: null, code: null },
          { omitted_before: 36, waited_ms: 2_000 },
          { duration_ms: 12_000, waited_ms: null },
        ],
      },
    ],
  });
});

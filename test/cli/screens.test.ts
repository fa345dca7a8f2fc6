import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../jobs/index.ts';
import { zoneText } from '../../src/base/text/local-time.ts';
import { type PlanStyle, planText } from '../../src/cli/render/plan.ts';
import { shownRequests } from '../../src/cli/render/planned-calls.ts';
import { styled, withoutMarks, wrappedLine } from '../../src/cli/render/style.ts';
import { summaryText } from '../../src/cli/render/summary.ts';
import { noOutcomes } from '../../src/domain/terms.ts';
import { requestOfValues } from '../../src/engine/operation/shown-request.ts';
import type { RunSummary } from '../../src/engine/report/summary.ts';
import { checkManifest } from '../../src/engine/run/plan/check-manifest.ts';
import { openRunStore } from '../../src/engine/run/record/store.ts';
import { stepsAfter } from '../helpers/page-lines.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { readable } from './render/scenes.ts';

/**
 * What people see on a narrow screen and on a wide one, without colors and with them; `screens/` has it.
 * After a change that is wanted: `npm test -- test/cli/screens.test.ts -u`, and read the difference.
 */
const widths = [40, 80] as const;

/** A screen, on which long lines are wrapped. */
function screen(text: string, columns: number): string {
  const line = '─'.repeat(columns);
  const lines = withoutMarks(text).split('\n');
  const wrapped = lines.flatMap((each) => wrappedLine(each, columns)).join('\n');
  return [`${columns} columns`, line, wrapped, line, readable(text), ''].join('\n');
}

const series = Array.from({ length: 240 }, (_, second) => ({
  t_s: second + 1,
  allowed_per_s: 52,
  accepted_per_s: second < 20 ? 20 + 3 * second : 50 + (second % 3),
  rejected: 0,
}));

const refused = { outcome: 'failed', code: 'FAILED_PRECONDITION' } as const;

const summary: RunSummary = {
  version: 1,
  run: '20261121-104117-jsur',
  state: 'completed',
  manifest: { name: 'evaluations.csv', sha256: '', rows: 12_000 },
  started_at: null,
  finished_at: null,
  duration_s: 240,
  outcomes: { ...noOutcomes(), succeeded: 11_200, failed: 640, invalid: 1, duplicate: 159 },
  operations: [],
  codes: [
    { outcome: 'succeeded', code: 'OK', count: 11_197, unclear: 0, called: 11_197, message: '', row: 1 },
    { outcome: 'succeeded', code: 'ALREADY_APPLIED', count: 3, unclear: 3, called: 3, message: '', row: 700 },
    { ...refused, count: 640, unclear: 0, called: 640, message: 'evaluation 50 is not recoverable', row: 2 },
    {
      outcome: 'invalid',
      code: 'INVALID_ROW',
      count: 1,
      unclear: 0,
      called: 0,
      message: 'evaluation_id is missing',
      row: 9,
    },
  ],
  unclear: 3,
  unclear_failed: 0,
  already_done: 0,
  attempts: 12_300,
  unprocessed: 12,
  rows_per_s: 49.3,
  latency_ms: null,
  retry_of: null,
  retries: [],
  delimiter: ',',
  digests: null,
  rate: { wanted: 'auto', limit_per_s: 50, waited_s: 0, rejected: 12, series, starts: [] },
};

const steps = stepsAfter(summary, { correctFile: `.cqbatch/runs/${summary.run}/correct.csv` });

const paths = {
  report: '.cqbatch/runs/20261121-104117-jsur/report.csv',
  summary: '',
  html: '.cqbatch/runs/20261121-104117-jsur/report.html',
  failed: '.cqbatch/runs/20261121-104117-jsur/failed.csv',
  correct: '.cqbatch/runs/20261121-104117-jsur/correct.csv',
};

const manifest = [
  'operation,evaluation_id,user_id,soundboard_id,title,note',
  'restore-evaluation,9007199254740993,u-17,,,deleted by mistake on Monday',
  'restore-evaluation,9007199254740993,u-17,,,again',
  'update-soundboard,,,41,Greeting,',
  'update-soundboard,,,41,Another greeting,',
].join('\n');

/** The plan of that manifest. */
async function plan({ columns, requests }: Pick<PlanStyle, 'columns' | 'requests'>) {
  const folder = await temporaryFolder();
  const path = join(folder, 'rows.csv');
  await writeFile(path, manifest);
  const reading = { clearToken: '<clear>' };
  const checked = await checkManifest(openRunStore(folder, operations), { path, name: 'rows.csv', reading });
  const planned = {
    ...checked,
    problems: { ...checked.problems, file: '.cqbatch/problems/rows.csv.txt' },
    requests: checked.scan.preview
      .slice(0, shownRequests)
      .map(({ operation, values }) => requestOfValues(operations, { operation: operation.name, values })),
    baseUrl: 'https://api.example.com',
    proxy: undefined,
    isNewTarget: true,
    rate: { perSecond: 0.5, isWanted: false },
    skipInvalid: false,
    allowPartial: false,
    allowEmpty: false,
    onConflict: 'refuse' as const,
    earlier: undefined,
  };
  const now = new Date(2026, 10, 21, 14, 0);
  return planText(planned, { columns, requests, now }).replace(zoneText(now), 'UTC');
}

test('a summary has one-line charts that fit on the screen', async () => {
  const draw = (columns: number) =>
    summaryText(summary, paths, {
      state: styled('yellow', 'completed'),
      steps,
      columns,
    });
  const screens = widths.map((columns) => screen(draw(columns), columns)).join('\n');
  await expect(screens).toMatchFileSnapshot('screens/summary.txt');
  const together = withoutMarks(
    summaryText({ ...summary, retries: ['again'] }, paths, { state: 'completed', steps: [], columns: 80 }),
  );
  expect(together).toMatch(/^ {2}[▁-█]+ {2}up to 77\/s without the retries$/m);
});

test('a halted run says what to look at before it says what continues it', async () => {
  const codes: RunSummary['codes'] = [
    { outcome: 'succeeded', code: 'OK', count: 86, unclear: 0, called: 86, message: '', row: 1 },
    { ...refused, count: 12, unclear: 0, called: 12, message: 'evaluation 50 is not deleted', row: 2 },
    { outcome: 'failed', code: 'INTERNAL', count: 3, unclear: 3, called: 3, message: 'oops', row: 9 },
    {
      outcome: 'not_attempted',
      code: 'HALTED',
      count: 1_060,
      unclear: 0,
      called: 4,
      message: 'the run was halted; the last attempt failed with RESOURCE_EXHAUSTED: too many requests',
      row: 141,
    },
  ];
  const outcomes = { ...noOutcomes(), succeeded: 86, failed: 15, not_attempted: 1_060 };
  const manifest = { ...summary.manifest, rows: 1_161 };
  const halted = { ...summary, state: 'halted', manifest, outcomes, codes };
  const rowToSee = { row: 2, failure: { code: refused.code, message: 'evaluation 50 is not deleted' } };
  const next = stepsAfter(halted, { phase: 'stopped', manner: 'halted', rowToSee, mayBeDone: true });
  const text = summaryText(halted, paths, { state: styled('red', 'halted'), steps: next, columns: 80 });
  await expect(screen(text, 80)).toMatchFileSnapshot('screens/halted.txt');
});

test('a plan is readable', async () => {
  const screens = widths.map(async (columns) =>
    screen(await plan({ columns, requests: columns > 40 }), columns),
  );
  await expect((await Promise.all(screens)).join('\n')).toMatchFileSnapshot('screens/plan.txt');
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { operations } from '../../jobs/index.ts';
import { zoneText } from '../../src/base/text/local-time.ts';
import { planText } from '../../src/cli/render/plan.ts';
import { progressLine } from '../../src/cli/render/progress.ts';
import { cutTo, painted, plain } from '../../src/cli/render/style.ts';
import { summaryText } from '../../src/cli/render/summary.ts';
import { noOutcomes } from '../../src/domain/terms.ts';
import type { RunSummary } from '../../src/engine/report/summary.ts';
import { checkManifest } from '../../src/engine/run/plan/check-manifest.ts';
import { verdictText } from '../../src/engine/run/plan/readiness.ts';
import { openRunStore } from '../../src/engine/run/record/store.ts';
import type { ProgressSnapshot } from '../../src/engine/run/session/progress.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/**
 * What people see on screens of three widths, without colors and with them; `screens/` has it.
 * After a change that is wanted: `npm test -- test/cli/screens.test.ts -u`, and read the difference.
 */
const widths = [40, 80, 120] as const;

const names = new Map([
  ['1', 'bold'],
  ['2', 'dim'],
  ['31', 'red'],
  ['32', 'green'],
  ['33', 'yellow'],
]);

const color = /\p{Cc}\[(\d+)m/gu;

/** Colors as words. */
function readable(text: string): string {
  return text.replaceAll(color, (_sequence, code: string) =>
    names.has(code) ? `<${names.get(code)}>` : '</>',
  );
}

/** As a terminal breaks what is too long for it. */
function broken(text: string, columns: number): string {
  return text.replaceAll(new RegExp(`.{${columns}}(?=.)`, 'gu'), '$&\n');
}

function screens(draw: (columns: number) => string): string {
  return widths.map((columns) => screen(draw(columns), columns)).join('\n');
}

function screen(text: string, columns: number): string {
  const line = '─'.repeat(columns);
  return [`${columns} columns`, line, broken(plain(text), columns), line, readable(painted(text)), ''].join(
    '\n',
  );
}

const series = Array.from({ length: 240 }, (_, second) => ({
  t_s: second + 1,
  allowed_per_s: 52,
  accepted_per_s: second < 20 ? 20 + 3 * second : 50 + (second % 3),
  rejected: 0,
}));

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
    { outcome: 'succeeded', code: 'OK', count: 11_197, message: '', row: 1 },
    { outcome: 'succeeded', code: 'ALREADY_APPLIED', count: 3, message: '', row: 700 },
    {
      outcome: 'failed',
      code: 'FAILED_PRECONDITION',
      count: 640,
      message: 'evaluation 50 is not recoverable',
      row: 2,
    },
    { outcome: 'invalid', code: 'INVALID_ROW', count: 1, message: 'evaluation_id is missing', row: 9 },
  ],
  unclear: 3,
  unclear_failed: 0,
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

const paths = {
  report: '.cqbatch/runs/20261121-104117-jsur/report.csv',
  summary: '',
  failed: '.cqbatch/runs/20261121-104117-jsur/failed.csv',
};

const progress: ProgressSnapshot = {
  rows: 12_000,
  done: 4_512,
  counts: { ...noOutcomes(), succeeded: 4_480, failed: 32 },
  rowsPerSecond: 49,
  pace: {
    rate: 51,
    limit: 50,
    isKept: true,
    concurrency: 20,
    phase: 'holding',
    refuses503: false,
    reason: 'just under the limit',
  },
  waitMs: 0,
  retrying: 3,
  paused: false,
  etaSeconds: 150,
  elapsedSeconds: 90,
};

const manifest = [
  'operation,evaluation_id,user_id,soundboard_id,title,note',
  'restore-evaluation,9007199254740993,u-17,,,deleted by mistake on Monday',
  'restore-evaluation,9007199254740993,u-17,,,again',
  'update-soundboard,,,41,Greeting,',
  'update-soundboard,,,41,Another greeting,',
].join('\n');

/** The plan of that manifest. */
async function plan() {
  const folder = await temporaryFolder();
  const path = join(folder, 'rows.csv');
  await writeFile(path, manifest);
  const reading = { clearToken: '<clear>' };
  const checked = await checkManifest(openRunStore(folder, operations), { path, name: 'rows.csv', reading });
  const planned = {
    ...checked,
    problems: { ...checked.problems, file: '.cqbatch/problems/rows.csv.txt' },
    baseUrl: 'https://api.example.com',
    proxy: undefined,
    target: { isNew: true, allowsPartial: false, updates: {} },
    rate: { perSecond: 0.5, isWanted: false },
    skipInvalid: false,
    allowPartial: false,
    allowEmpty: false,
    onConflict: 'refuse' as const,
    earlier: undefined,
  };
  const now = new Date(2026, 10, 21, 14, 0);
  return `${planText(planned, now).replace(zoneText(now), 'UTC')}\n\n${verdictText(planned)}`;
}

describe('on screens of 40, 80 and 120 columns', () => {
  test('a summary has one-line charts', async () => {
    const draw = (columns: number) =>
      summaryText(summary, paths, ['cqbatch retry 20261121-104117-jsur'], columns);
    for (const columns of widths) {
      const [, bar = '', rate = ''] = plain(draw(columns)).split('\n');
      expect(bar).toMatch(/^ {2}[█░▓]+$/);
      expect(rate).toMatch(/^ {2}[▁-█]+ {2}up to 77\/s$/);
      expect(Math.max(bar.length, rate.length)).toBeLessThan(columns);
    }
    await expect(screens(draw)).toMatchFileSnapshot('screens/summary.txt');
    const together = plain(summaryText({ ...summary, retries: ['again'] }, paths, [], 80));
    expect(together).toMatch(/^ {2}[▁-█]+ {2}up to 77\/s without the retries$/m);
  });

  test('a plan is readable', async () => {
    const text = await plan();
    await expect(screens(() => text)).toMatchFileSnapshot('screens/plan.txt');
  });

  test('progress is one line', async () => {
    await expect(screens((columns) => cutTo(columns - 1, progressLine(progress)))).toMatchFileSnapshot(
      'screens/progress.txt',
    );
  });
});

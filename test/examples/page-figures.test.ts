import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { count, typedDigits } from '../../src/base/text/format.ts';
import { defaultTimeouts } from '../../src/engine/api/client.ts';
import { reasons } from '../../src/engine/rate/governor/pace-reasons.ts';
import { settings } from '../../src/settings/setting-table.ts';
import { constant, textOf } from './page-text.ts';

/** A part of a file of `src`. */
function partOf(file: string, pattern: RegExp): string {
  const [, part] = pattern.exec(readFileSync(`src/${file}.ts`, 'utf8')) ?? [];
  expect(part, `${pattern} in ${file}`).toBeDefined();
  return (part ?? '').replaceAll('_', '');
}

const numbers = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const inSeconds = (ms: string): string => numbers[Number(ms) / 1_000] ?? ms;
const notifier = 'cli/commands/run/run-scope';

const sheet = 'engine/manifest/workbook/sheet';
const [mib, mb, second] = [1024 * 1024, 1_000_000, 1_000];
const rowPacks = 'engine/report/html/row-packs';
const retries = 'engine/worker/retry-quota';

/** What a page says, and the figure of the code. */
test.each<[page: string, figure: number | string | undefined, sentence: (figure: string) => string]>([
  ['manifests', settings.maxManifestSize.default.replace('GB', ''), (n) => `also unzipped | ${n} GB`],
  ['manifests', constant(sheet, 'maxUnpackedBytes') / mb, (n) => `for 100,000 rows | ${n} MB`],
  [
    'manifests',
    constant('engine/manifest/json/document', 'maxDocumentBytes') / 1e9,
    (n) => `memory | ${n} GB`,
  ],
  [
    'manifests',
    constant('engine/manifest/text/mistake', 'maxRecordBytes') / mib,
    (n) => `a record | ${n} MiB`,
  ],
  ['manifests', constant('engine/manifest/text/source', 'maxBlankBytes') / mib, (n) => `together | ${n} MiB`],
  ['manifests', constant(sheet, 'maxCells'), (n) => `cells of a sheet | ${n}, also empty ones`],
  [
    'manifests',
    constant('engine/manifest/columns/column-names', 'maxColumns'),
    (n) => `columns | ${n}, with`,
  ],
  ['guards', Number(settings.confirmAbove.default), (n) => `Above ${n} requests (confirm_above)`],
  ['guards', settings.canaryMaxFailures.default, (n) => `canary_max_failures (${n})`],
  [
    'guards',
    constant('engine/run/record/guards/failure-guards', 'fewestFailures'),
    (n) => `at least ${n} have failed`,
  ],
  [
    'guards',
    constant('engine/run/feed/row-order', 'maxHeldRows'),
    (n) => `At most ${n} rows, or 32 MiB, wait`,
  ],
  [
    'guards',
    constant('engine/run/feed/row-order', 'maxHeldBytes') / mib,
    (n) => `20,000 rows, or ${n} MiB, wait`,
  ],
  ['report', constant(rowPacks, 'usualMostRows'), (n) => `at most ${n} rows and 20 MB`],
  ['plans', constant(rowPacks, 'usualMostRows'), (n) => `at most ${n} rows`],
  ['history', constant('engine/api/answer', 'maxBodyLength'), (n) => `cut after ${n} characters`],
  ['errors', settings.attempts.default, (n) => `up to --attempts (${n}) times`],
  ['errors', settings.maxOutage.default, (n) => `After --max-outage (${n})`],
  [
    'errors',
    constant('engine/worker/breaker/early-calls', 'mostUnclearCalls'),
    (n) => `after ${n} such calls`,
  ],
  [
    'errors',
    partOf('engine/worker/breaker/circuit-breaker', /\[unprovenCalls, unprovenMs\] = \[([\d_]+)/),
    (n) => `gives up after ${n} calls`,
  ],
  [
    'errors',
    Number(partOf('engine/worker/breaker/circuit-breaker', /unprovenMs\] = \[\d+, ([\d_]+)/)) / second,
    (n) => `calls or ${n} s`,
  ],
  ['rate', constant('engine/rate/governor/pace-reasons', 'firstRate'), (n) => `starts at ${n} calls/s`],
  [
    'rate',
    constant('engine/rate/governor/probe-backoff', 'firstProbeMs') / second,
    (n) => `at most every ${n} s`,
  ],
  [
    'rate',
    constant('engine/rate/governor/comparison', 'longestMs') / 500,
    (n) => `some seconds, at most for ${n}:`,
  ],
  [
    'rate',
    constant('engine/rate/governor/concurrency-limit', 'mostConcurrency'),
    (n) => `at most ${n} calls are in`,
  ],
  [
    'rate',
    constant('engine/api/wait-reader', 'maxWaitMs') / (3_600 * second),
    (n) => `longer than ${n} hours`,
  ],
  [
    'rate',
    constant(retries, 'quotaAtStart') === 100 ? 'a hundred' : undefined,
    (n) => `quota: ${n} at the start`,
  ],
  [
    'rate',
    1 / constant(retries, 'retriesPerSuccess') === 10 ? 'ten' : undefined,
    (n) => `for ${n} rows that`,
  ],
  ['rate', constant(retries, 'retriesPerSecond') === 2 ? 'two' : undefined, (n) => `and ${n} a second`],
  ['rate', reasons.unknown, (text) => `| ${text} |`],
  ['rate', reasons.probe, (text) => `| ${text} |`],
  ['rate', reasons.dry, (text) => `| ${text} |`],
  ['rate', reasons.compared, (text) => `| ${text} |`],
  ['rate', reasons.tried, (text) => `| ${text} |`],
  ['rate', reasons.capped, (text) => `| ${text} |`],
  [
    'scheduling',
    inSeconds(partOf(notifier, /atStart: ([\d_]+)/)),
    (n) => `for ${n} seconds when the command starts`,
  ],
  ['scheduling', inSeconds(partOf(notifier, /atEnd: ([\d_]+)/)), (n) => `starts, for ${n} when it ends`],
  [
    'scheduling',
    numbers[Number(partOf('engine/api/webhook', /retries: (\d)/)) + 1],
    (n) => `tried up to ${n} times`,
  ],
  [
    'scheduling',
    numbers[constant('daemon/inbox/stable-files', 'emptyWaits')],
    (n) => `empty files ${n} times as long`,
  ],
  [
    'scheduling',
    constant('daemon/schedule/decide', 'mostLateMs') === 60_000 ? 'a minute' : undefined,
    (n) => `none: ${n}`,
  ],
  ['history', constant('domain/attempts', 'keptAtEachEnd'), (n) => `the first and last ${n}`],
  [
    'dashboard',
    constant('pages/server/start/draft-store', 'keptMs') === 7 * 86_400 * second ? 'a week' : undefined,
    (n) => `Prepared runs stay** for ${n}`,
  ],
  [
    'dashboard',
    constant('daemon/schedule/refused-files', 'shownMs') === 7 * 86_400 * second ? 'a week' : undefined,
    (n) => `are shown for ${n}; so are files`,
  ],
  ['dashboard', constant('pages/server/overview', 'mostEnded'), (n) => `Ended runs**, the newest ${n}`],
  ['dashboard', constant('pages/server/start/draft', 'mostUploadBytes') / mb, (n) => `at most ${n} MB`],
  [
    'dashboard',
    constant('pages/browser/start/start-form', 'fewRows') === 10 ? 'Ten' : undefined,
    (n) => `"${n} rows first"`,
  ],
  ['api-client', defaultTimeouts.connectMs, (n) => `connectMs ${typedDigits(n)}`],
  ['api-client', defaultTimeouts.headersMs, (n) => `headersMs ${typedDigits(n)}`],
  ['api-client', defaultTimeouts.bodyMs, (n) => `bodyMs ${typedDigits(n)}`],
  ['api-client', defaultTimeouts.totalMs, (n) => `totalMs ${typedDigits(n)}`],
])('docs/%s.md has the figure of the code: %s', (page, figure, sentence) => {
  expect(textOf(page)).toContain(sentence(typeof figure === 'number' ? count(figure) : String(figure)));
});

import { defaultTimeouts } from '../../../src/engine/api/client.ts';
import { maxWaitMs } from '../../../src/engine/api/wait-reader.ts';
import { maxColumns } from '../../../src/engine/manifest/columns/column-names.ts';
import { maxRecordBytes } from '../../../src/engine/manifest/text/mistake.ts';
import { mostConcurrency } from '../../../src/engine/rate/governor/concurrency-limit.ts';
import { firstRate, reasons } from '../../../src/engine/rate/governor/pace-reasons.ts';
import { mostUploadBytes } from '../../../src/pages/server/start/draft.ts';
import { settings } from '../../../src/settings/setting-table.ts';
import { constant, testFigures } from './figures.ts';

const notifier = 'cli/commands/run/run-scope';
const sheet = 'engine/manifest/workbook/sheet';
const [mib, mb, second, minute, week] = [1024 * 1024, 1_000_000, 1_000, 60_000, 7 * 86_400_000];
const rowPacks = 'engine/report/html/row-packs';
const retries = 'engine/worker/retry-quota';
const breaker = 'engine/worker/breaker/circuit-breaker';

testFigures([
  ['manifests', settings.maxManifestSize.default.replace('GB', ''), (n) => `also unzipped | ${n} GB`],
  ['manifests', constant(sheet, 'maxUnpackedBytes') / mb, (n) => `for 100,000 rows | ${n} MB`],
  [
    'manifests',
    constant('engine/manifest/json/document', 'maxDocumentBytes') / 1e9,
    (n) => `memory | ${n} GB`,
  ],
  ['manifests', maxRecordBytes / mib, (n) => `a record | ${n} MiB`],
  ['manifests', constant('engine/manifest/text/source', 'maxBlankBytes') / mib, (n) => `together | ${n} MiB`],
  ['manifests', constant(sheet, 'maxCells'), (n) => `cells of a sheet | ${n}, also empty ones`],
  ['manifests', maxColumns, (n) => `columns | ${n}, with`],
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
  ['errors', constant(breaker, 'mostCalls'), (n) => `gives up after ${n} calls`],
  ['errors', constant(breaker, 'mostMs') / second, (n) => `calls or ${n} s`],
  ['rate', firstRate, (n) => `starts at ${n} calls/s`],
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
  ['rate', mostConcurrency, (n) => `at most ${n} calls are in`],
  ['rate', maxWaitMs / (3_600 * second), (n) => `longer than ${n} hours`],
  ['rate', constant(retries, 'quotaAtStart'), (n) => `quota: ${n} at the start`],
  ['rate', 1 / constant(retries, 'retriesPerSuccess'), (n) => `for ${n} rows that`],
  ['rate', constant(retries, 'retriesPerSecond'), (n) => `and ${n} a second`],
  ['rate', reasons.unknown, (text) => `| ${text} |`],
  ['rate', reasons.probe, (text) => `| ${text} |`],
  ['rate', reasons.dry, (text) => `| ${text} |`],
  ['rate', reasons.compared, (text) => `| ${text} |`],
  ['rate', reasons.tried, (text) => `| ${text} |`],
  ['rate', reasons.capped, (text) => `| ${text} |`],
  ['scheduling', constant(notifier, 'atStart') / second, (n) => `for ${n} seconds when the command starts`],
  ['scheduling', constant(notifier, 'atEnd') / second, (n) => `starts, for ${n} when it ends`],
  ['scheduling', constant('engine/api/webhook', 'retries') + 1, (n) => `tried up to ${n} times`],
  [
    'scheduling',
    constant('daemon/inbox/stable-files', 'emptyWaits'),
    (n) => `empty files ${n} times as long`,
  ],
  ['scheduling', constant('daemon/schedule/decide', 'mostLateMs') / minute, (n) => `none: ${n} minute`],
  ['history', constant('domain/attempts', 'keptAtEachEnd'), (n) => `the first and last ${n}`],
  [
    'dashboard',
    constant('pages/server/start/draft-store', 'keptMs') / week,
    (n) => `Prepared runs stay** for ${n} week`,
  ],
  [
    'dashboard',
    constant('daemon/schedule/refused-files', 'shownMs') / week,
    (n) => `are shown for ${n} week; so are files`,
  ],
  ['dashboard', constant('pages/server/overview', 'mostEnded'), (n) => `Ended runs**, the newest ${n}`],
  ['dashboard', mostUploadBytes / mb, (n) => `at most ${n} MB`],
  ['dashboard', constant('pages/browser/start/start-form', 'fewRows'), (n) => `"${n} rows first"`],
  ['api-client', String(defaultTimeouts.connectMs), (n) => `connectMs ${n}`],
  ['api-client', String(defaultTimeouts.headersMs), (n) => `headersMs ${n}`],
  ['api-client', String(defaultTimeouts.bodyMs), (n) => `bodyMs ${n}`],
  ['api-client', String(defaultTimeouts.totalMs), (n) => `totalMs ${n}`],
]);

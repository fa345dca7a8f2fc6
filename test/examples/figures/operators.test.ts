import { lockMs } from '../../../src/engine/queue/bullmq.ts';
import { mostConcurrency } from '../../../src/engine/rate/governor/concurrency-limit.ts';
import { mostUploadBytes } from '../../../src/pages/server/start/draft.ts';
import { constant, testFigures } from './figures.ts';

const [second, minute, week, mb] = [1_000, 60_000, 7 * 86_400_000, 1_000_000];
const worker = 'cli/commands/daemon/worker';
const window = 'engine/run/feed/feed-window';
const start = 'pages/server/start';

testFigures([
  ['deployment', constant(worker, 'unhealthyAfterMs') / minute, (n) => `Redis has refused for ${n} minutes`],
  [
    'deployment',
    constant('engine/worker/watchdog', 'giveUpAfterMs') / minute,
    (n) => `A worker that is stuck ends by itself after ${n} minutes (WORKER_STUCK, exit code 4)`,
  ],
  [
    'deployment',
    constant('engine/datastore/redis/trouble', 'unwritableAfterMs') / second,
    (n) => `after ${n} seconds commands end`,
  ],
  ['deployment', lockMs / second, (n) => `all wait, then ${n} s more`],
  ['deployment', constant(window, 'maxOpenBytes') / 1024 ** 2, (n) => `at most ${n} MB of requests`],
  ['capacity', constant(window, 'maxOpenBytes') / 1024 ** 2, (n) => `at most ${n} MB of requests`],
  ['capacity', constant(window, 'maxOpenRows'), (n) => `feeds at most ${n} rows ahead`],
  ['capacity', mostConcurrency, (n) => `all workers of an API share at most ${n}`],
  ['capacity', constant('cli/commands/doctor', 'enoughDisk') / 1e9, (n) => `less than ${n} GB free`],
  ['monitoring', constant('daemon/metrics/metrics-file', 'everyMs') / second, (n) => `every ${n} seconds`],
  ['security', constant('engine/api/token/renewed-token', 'longestEarlyMs') / second, (n) => `${n} s before`],
  [
    'security',
    constant('engine/api/token/from-command', 'limitMs') / second,
    (n) => `The command has ${n} s, and no standard input`,
  ],
  ['threat-model', mostUploadBytes / mb, (n) => `${n} MB received`],
  ['threat-model', constant(`${start}/start-routes`, 'mostUploads'), (n) => `received, ${n} at once`],
  ['threat-model', constant(`${start}/draft-store`, 'keptMs') / week, (n) => `after ${n} week`],
]);

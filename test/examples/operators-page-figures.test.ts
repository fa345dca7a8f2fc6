import { expect, test } from 'vitest';
import { count } from '../../src/base/text/format.ts';
import { constant, textOf } from './page-text.ts';

const [second, minute, mb] = [1_000, 60_000, 1_000_000];
const words: Readonly<Record<number, string>> = { 1: 'a', 2: 'two', 4: 'four', 5: 'five', 10: 'ten' };
const worker = 'cli/commands/daemon/worker';
const window = 'engine/run/feed/feed-window';
const start = 'pages/server/start';

/** What a page says, and the figure of the code. */
test.each<[page: string, figure: number, sentence: (figure: string) => string]>([
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
  ['deployment', constant('engine/queue/bullmq', 'lockMs') / second, (n) => `all wait, then ${n} s more`],
  ['deployment', constant(window, 'maxOpenBytes') / 1024 ** 2, (n) => `at most ${n} MB of requests`],
  ['capacity', constant(window, 'maxOpenBytes') / 1024 ** 2, (n) => `at most ${n} MB of requests`],
  ['capacity', constant(window, 'maxOpenRows'), (n) => `feeds at most ${n} rows ahead`],
  [
    'capacity',
    constant('engine/rate/governor/concurrency-limit', 'mostConcurrency'),
    (n) => `all workers of an API share at most ${n}`,
  ],
  ['capacity', constant('cli/commands/doctor', 'enoughDisk') / 1e9, (n) => `less than ${n} GB free`],
  ['monitoring', constant('daemon/metrics/metrics-file', 'everyMs') / second, (n) => `every ${n} seconds`],
  ['security', constant('engine/api/token/renewed-token', 'longestEarlyMs') / second, (n) => `${n} s before`],
  [
    'security',
    constant('engine/api/token/from-command', 'limitMs') / second,
    (n) => `The command has ${n} s, and no standard input`,
  ],
  ['threat-model', constant(`${start}/draft`, 'mostUploadBytes') / mb, (n) => `${n} MB received`],
  ['threat-model', constant(`${start}/start-routes`, 'mostUploads'), (n) => `received, ${n} at once`],
  ['threat-model', constant(`${start}/draft-store`, 'keptMs') / minute / 10_080, (n) => `after ${n} week`],
])('docs/%s.md says the figure of the code: %s', (page, figure, sentence) => {
  const texts = [count(figure), words[figure]].filter((text) => text !== undefined);
  const said = texts.filter((text) => textOf(page).includes(sentence(text)));
  expect([sentence(count(figure)), said.length]).toEqual([sentence(count(figure)), 1]);
});

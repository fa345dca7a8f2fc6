// @ts-check
/** A loop as people write it: ten calls at a time, each repeated up to ten times. Usage: `loop.js URL ROWS`. */
import pLimit from 'p-limit';
import pRetry from 'p-retry';
import { update } from './update.js';

const [, , url = '', rows] = process.argv;
const limit = pLimit(10);
await Promise.allSettled(
  Array.from({ length: Number(rows) }, (_, index) => limit(() => pRetry(() => update(url, index + 1)))),
);

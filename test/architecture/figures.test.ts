import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';

/** What developers' pages say of figures, where the code has them, and as what. */
const figures = {
  'docs/architecture.md': [
    ['up to 250 rows', 'src/engine/run/feed/feed-window.ts', 'maxBatchRows = 250;'],
    ['a lock of 20 s', 'src/engine/queue/bullmq.ts', 'lockMs = 20_000;'],
    ['20 to 30 s later', 'src/engine/queue/bullmq.ts', 'stalledInterval: 5_000,'],
    ['after a second from its ledger', 'src/engine/queue/open-batch.ts', 'readAfterMs = 1_000;'],
    ['never two seconds behind', 'src/engine/run/feed/coordinator.ts', 'refreshMs = 500;'],
    ['every 30 s', 'src/engine/queue/batch-queue.ts', 'usualCompareMs = 30_000;'],
    ['the last 25 batches', 'src/engine/queue/batch-flow.ts', 'keptBatches = 25;'],
    ['half a lock', 'src/engine/queue/ledger/ledger-writer.ts', 'lockMs / 2'],
    ['five such calls', 'src/engine/worker/breaker/early-calls.ts', 'mostUnclearCalls = 5;'],
    ['the next 500 requests', 'src/engine/run/record/run-rows.ts', 'checkedRows = 500;'],
    ['after a minute of silence', 'src/base/disk/lock-holder.ts', 'staleAfterMs = 60_000;'],
    ['after ten refusals', 'src/engine/worker/other-rows.ts', 'refusals: { refusals: 10,'],
    ['fails after five', 'src/engine/worker/other-rows.ts', 'failures: { refusals: 5,'],
    ['a lease of two seconds', 'src/engine/cluster/timeline.ts', 'leaseMs = 2_000;'],
    ['expire after two seconds', 'src/engine/cluster/timeline.ts', 'rateTtlMs = 2_000;'],
    ['portions of a thousand', 'src/engine/report/html/row-packs.ts', 'portionRows = 1_000;'],
  ],
} as const;

describe.each(Object.entries(figures))('%s', (page, lines) => {
  test.each(lines)('says "%s", as %s does: %s', async (words, path, constant) => {
    expect((await readFile(page, 'utf8')).replaceAll(/\s+/g, ' ')).toContain(words);
    expect(await readFile(path, 'utf8')).toContain(constant);
  });
});

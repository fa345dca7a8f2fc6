// @ts-check
/**
 * Ours: a whole run on the embedded datastore, made of what `cqbatch run` is made of. Timed from the moment at which
 * the datastore is open and the first row may be fed, to the moment at which the report is written.
 */
import { join } from 'node:path';
import { createClient } from '../../../dist/src/api/client.js';
import { openLog } from '../../../dist/src/cli/log.js';
import { createRun } from '../../../dist/src/run/create-run.js';
import { Progress } from '../../../dist/src/run/progress.js';
import { openRunStore } from '../../../dist/src/run/store.js';
import { executeRun } from '../../../dist/src/worker/execute-run.js';
import { peakMemory } from './peak-memory.js';
import { program } from './program.js';
import { runOptions } from './run-options.js';

/** @typedef {{ stateDir: string, source: string, baseUrl: string, rate?: string }} RunInput */
/** @typedef {{ rowsPerSecond: number, peakMb: number }} RunFigures */

await program(async (/** @type {RunInput} */ { stateDir, source, baseUrl, rate }) => {
  const options = runOptions({ baseUrl, ...(rate !== undefined && { rate }) });
  const store = openRunStore(stateDir);
  const { record, journal } = await createRun(store, {
    source,
    stdin: process.stdin,
    options,
    problemsPath: () => join(stateDir, 'problems.txt'),
  });
  const client = createClient({
    baseUrl,
    token: 'benchmark',
    connections: options.concurrency,
    timeouts: { headersMs: options.timeoutMs, bodyMs: options.timeoutMs, totalMs: options.timeoutMs },
  });
  const progress = new Progress({ total: record.plan.rows, counts: journal.outcomeCounts });
  let start = Number.NaN;
  let end = Number.NaN;
  // The journal is closed when the report is written; closing the datastore, which follows, is not part of the work.
  const closeJournal = journal.close.bind(journal);
  journal.close = () => {
    end = performance.now();
    return closeJournal();
  };

  const { reports } = await executeRun({
    store,
    record,
    openJournal: async () => journal,
    client,
    log: openLog(),
    interrupt: new AbortController().signal,
    onStarted: () => {
      start = performance.now();
    },
    onEvent: (event) => {
      if (event.type === 'finished') progress.finished(event.result);
    },
    onEnded() {},
  });
  await client.close();
  const { succeeded } = reports.summary.outcomes;
  if (succeeded !== record.plan.rows) throw new Error(`${succeeded} of ${record.plan.rows} rows succeeded.`);
  return /** @satisfies {RunFigures} */ ({
    rowsPerSecond: succeeded / ((end - start) / 1_000),
    peakMb: peakMemory(),
  });
});

import { join } from 'node:path';
import { callsByRow, disagreements } from '../e2e/agreement.ts';
import { type Cells, readCsv } from '../helpers/run-folder.ts';
import { runId, type Stage } from './stage.ts';
import { unended } from './user.ts';

const retryId = `${runId}-retry`;
const callsBeforeKill = 5;

/**
 * Retries the rows of a run that has ended, kills the retry, and resumes it.
 *
 * @returns the broken promises
 */
export async function brokenByRetry(stage: Stage): Promise<readonly string[]> {
  const rows = (await readCsv(join(stage.stateDir, 'runs', runId), 'report.csv')).filter(isRetried);
  if (rows.length === 0) return [];
  const before = await stage.sandbox.log();
  const first = stage.start(...['retry', runId, '--run-id', retryId, '--yes', '--max-failures', 'none']);
  const called = stage.sandbox.requested(before.length + Math.min(callsBeforeKill, rows.length));
  await Promise.race([called, first.end]);
  first.process.kill('SIGKILL');
  await first.end;
  // The environment says how many rows of the first run may fail; in the retry, most of them will.
  const second = stage.start('resume', retryId, '--max-failures', 'none');
  const hang = await unended([second]);
  if (hang.length > 0) return hang;
  const { code, stderr } = await second.end;
  // It may have ended before it was killed.
  if (![0, 1, 2].includes(code ?? -1)) return [`cqbatch resume ${retryId} ends with ${code}: ${stderr}`];
  const report = await readCsv(join(stage.stateDir, 'runs', retryId), 'report.csv');
  const log = (await stage.sandbox.log()).slice(before.length);
  const retried = new Set(rows.map(keyOf));
  const others = [...callsByRow(log).keys()].filter((key) => !retried.has(key));
  return [
    ...(report.length === rows.length ? [] : [`${rows.length} rows to retry, ${report.length} in the retry`]),
    ...others.map((key) => `${key} was called by a retry, and had not failed`),
    ...disagreements(report, log, { killed: true }),
  ];
}

const isRetried = (row: Cells): boolean =>
  row['_outcome'] === 'failed' || row['_outcome'] === 'not_attempted';

const keyOf = (row: Cells): string => `${row['_operation']} ${row['evaluation_id'] || row['soundboard_id']}`;

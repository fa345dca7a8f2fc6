import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { decodeEntry } from '../../src/engine/journal/line.ts';
import type { LogEntry } from '../../src/sandbox/request-log.ts';
import { callsByRow, callsOf, disagreements } from '../e2e/agreement.ts';
import { expectInOrder } from '../e2e/edits.ts';
import { fedInSpiteOf } from '../helpers/obeyed-guards.ts';
import { type Cells, readCsv } from '../helpers/run-folder.ts';
import { verificationOf } from '../helpers/verified.ts';
import { runId, type Stage } from './stage.ts';

/** Compares the end of a round with the promises. @returns the broken promises */
export async function brokenPromises(stage: Stage): Promise<string[]> {
  const report = await readCsv(join(stage.stateDir, 'runs', runId), 'report.csv');
  const log = await stage.sandbox.log();
  const record = await stage.record();
  return [
    ...everyRowOnce(report, stage.rows),
    ...(record?.state === 'completed' ? allAttempted(report) : []),
    ...(isBlind(stage) ? [] : callsAgree(stage, report, log)),
    ...canaryFirst(stage, report, log),
    ...(await guardsObeyed(stage)),
    ...says(stage),
    ...(await fromVerify(stage)),
    ...(await remains(stage)),
  ].slice(0, 20);
}

/** The folder of a run proves what it did, whatever happened to it. */
async function fromVerify({ stateDir }: Stage): Promise<string[]> {
  const verification = await verificationOf(join(stateDir, 'runs', runId));
  return verification.agrees ? [] : [`the files of the run do not agree: ${verification.problem}`];
}

function everyRowOnce(report: readonly Cells[], rows: number): string[] {
  const numbers = report.map((row) => Number(row['_row']));
  const isOnce = numbers.length === rows && numbers.every((row, at) => row === at + 1);
  return isOnce ? [] : [`the report has ${numbers.length} rows of ${rows}: ${numbers.slice(0, 20)} …`];
}

function allAttempted(report: readonly Cells[]): string[] {
  const left = report.filter((row) => row['_outcome'] === 'not_attempted').length;
  return left === 0 ? [] : [`${left} rows of a run that is completed were not attempted`];
}

const happens = ({ scenario }: Stage, what: string): boolean =>
  scenario.troubles.some((trouble) => trouble.what === what);

/** Whether the datastore has lost data. */
function isForgotten(stage: Stage): boolean {
  const forgetting = ['empty Redis', 'move state folder', 'put Redis back older', 'cut Redis'];
  return forgetting.some((what) => happens(stage, what));
}

/** Whether nothing may be left that knows of a call. */
function isBlind(stage: Stage): boolean {
  return isForgotten(stage) && happens(stage, 'cut journal');
}

function callsAgree(stage: Stage, report: readonly Cells[], log: readonly LogEntry[]): string[] {
  if (stage.edits !== undefined) return order(stage, report, log);
  const forgotten = isForgotten(stage) || happens(stage, 'cut journal');
  return disagreements(report, log, { killed: true, forgotten });
}

/** Each edit of an entry follows the previous one; a repeated edit is marked. */
function order(stage: Stage, report: readonly Cells[], log: readonly LogEntry[]): string[] {
  const { edits } = stage;
  if (edits === undefined || happens(stage, 'cancel')) return [];
  const found: string[] = [];
  try {
    expectInOrder(edits, log);
  } catch (error) {
    found.push(`edits are not in their order: ${(error as Error).message}`);
  }
  for (const [key, calls] of callsByRow(log.filter(({ throttled, fault }) => !throttled && fault === null))) {
    const rows = report.filter((row) => key === `${row['_operation']} ${row['soundboard_id']}`);
    const repeated = rows.filter((row) => row['_unclear'] === 'yes').length;
    if (calls.length > rows.length && repeated === 0)
      found.push(`${key}: ${calls.length} calls for ${rows.length} edits, of which none is marked`);
  }
  return found;
}

/** No row is called before all rows of the canary. */
function canaryFirst(
  { scenario: { canary } }: Stage,
  report: readonly Cells[],
  log: readonly LogEntry[],
): string[] {
  const calls = callsByRow(log);
  const firsts = report.map((row) => callsOf(row, calls)[0]?.seq ?? Number.POSITIVE_INFINITY);
  const early = Math.min(...firsts.slice(canary));
  const late = firsts.slice(0, canary).filter((seq) => seq > early);
  return late.length === 0 ? [] : [`${late.length} rows of the canary were called after other rows`];
}

/** A run with too many failed rows halts. */
async function guardsObeyed({ scenario: { maxFailures }, stateDir }: Stage): Promise<string[]> {
  if (maxFailures === undefined) return [];
  const lines = (await readFile(join(stateDir, 'runs', runId, 'journal.jsonl'), 'utf8')).split('\n');
  const entries = lines.map(decodeEntry).filter((entry) => entry !== undefined);
  const failures = fedInSpiteOf(entries, maxFailures);
  return failures === undefined ? [] : [`the run goes on after ${failures}, where ${maxFailures} may fail`];
}

/** No command has met a defect. */
function says({ commands }: Stage): string[] {
  return commands
    .filter(({ process }) => /Unexpected error|DEFECT|^ {4}at /m.test(process.stderr))
    .map(({ words, process }) => `cqbatch ${words} has met a defect: ${process.stderr.slice(-2_000)}`);
}

/** Nothing remains of a run that has ended. */
async function remains(stage: Stage): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc').catch(() => [])) {
    const cwd = /^\d+$/.test(pid) ? await readlink(`/proc/${pid}/cwd`).catch(() => '') : '';
    if (cwd.startsWith(stage.folder)) found.push(`process ${pid} is left`);
  }
  const comesBack = happens(stage, 'put Redis back older') || happens(stage, 'cut Redis');
  if (stage.redis === undefined || comesBack) return found;
  const keys = (await keysIn(stage)).filter((key) => key.includes(`${runId}-b-`));
  return keys.length === 0 ? found : [...found, `Redis still holds batches: ${keys.slice(0, 5)}`];
}

export async function keysIn({ redis }: Stage): Promise<string[]> {
  if (redis === undefined) return [];
  const client = new Redis(redis.port);
  try {
    return (await client.keys('*')).toSorted();
  } finally {
    client.disconnect();
  }
}

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { withSpare } from '../../../src/engine/worker/prefetch.ts';
import { type Finished, finished, saying, startCqbatch } from '../../helpers/cqbatch.ts';
import { adminOf, type RedisServer, redisForTest } from '../../helpers/redis-server.ts';
import { newestRunFolder, readCsv } from '../../helpers/run-folder.ts';
import { startSandbox, type TestSandbox } from '../../helpers/sandbox.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { expectVerified } from '../../helpers/verified.ts';
import { callsByRow, expectAgreement, expectEveryRowOnce, hasUnclearFault } from '../agreement.ts';
import { mixedCsv } from '../manifests.ts';
import { eventually } from './machine.ts';

/**
 * The matrix of kills: a run of 1,000 rows on Redis, fed by one process and called by two others, loses one of its
 * parts several times at random moments.
 */

export const rows = 1_000;
/** Just enough for the rate: the fewer, the sharper is what is known of calls that a kill may have met. */
export const concurrency = 6;
export const workers = 2;
export const faults = 'reset=0.5%,500=0.5%,502-after-commit=0.5%,malformed=0.5%,503=0.5%';
/** For calls that the API keeps in flight. */
export const patience = ['--timeout', '10m'] as const;
/** Slow enough that the last kill still meets a run that is going, with about ten calls in flight. */
const usualRate = '120/s';

export interface Parts {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly redis: RedisServer;
  readonly sandbox: TestSandbox;
  readonly workers: ChildProcess[];
  readonly coordinator: ChildProcess;
  /** Of the coordinator that the run began with. */
  readonly end: Promise<Finished>;
}

export interface Pace {
  readonly rate?: string;
  readonly backoff?: string;
}

export async function begin({ rate = usualRate, backoff = '50ms' }: Pace = {}): Promise<Parts> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'manifest.csv'), mixedCsv(rows).text);
  const redis = await redisForTest();
  const sandbox = await startSandbox(
    ...['--evaluations', '6000', '--soundboards', '6000', '--latency', '40ms..120ms', '--fault', faults],
  );
  const env = { ...sandbox.env, CQBATCH_QUEUE: redis.url, CQBATCH_BACKOFF: backoff };
  const parts = { cwd, env, redis, sandbox, workers: [] as ChildProcess[] };
  for (let index = 0; index < workers; index += 1) parts.workers.push(await startWorker(parts));
  const args = ['run', 'manifest.csv', '--yes', '--rate', rate, '--no-worker'];
  const coordinator = startCqbatch(args, { cwd, env });
  const end = finished(coordinator);
  await saying(coordinator, 'Run 20');
  await sandbox.requested(1);
  return { ...parts, coordinator, end };
}

type Place = Pick<Parts, 'cwd' | 'env' | 'sandbox'>;

/** More than usual machines make while a process starts. */
const callsMeanwhile = 60;

/**
 * Starts a process, and waits until it says a text. Where that takes long, the API keeps calls in flight meanwhile: otherwise the other
 * processes finish the run before its last kill.
 */
async function startBeside(place: Place, args: readonly string[], text: string): Promise<ChildProcess> {
  const child = startCqbatch(args, place);
  let isStarted = false;
  let held: ReturnType<TestSandbox['hold']> | undefined;
  void calledSince(place, callsMeanwhile).then(() => {
    if (!isStarted) held = place.sandbox.hold();
  });
  await saying(child, text);
  isStarted = true;
  held?.release();
  return child;
}

export async function startWorker(place: Place): Promise<ChildProcess> {
  const args = ['worker', '--concurrency', String(concurrency), ...patience];
  const child = await startBeside(place, args, 'worker started');
  // A full pipe would stop it.
  child.stderr?.resume();
  return child;
}

/** Resumes the run in a new process. */
export function resume(place: Place, ...args: readonly string[]): Promise<ChildProcess> {
  return startBeside(place, ['resume', ...args], 'Run 20');
}

export async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Waits for that many more calls. */
export async function calledSince({ sandbox }: Pick<Parts, 'sandbox'>, calls: number): Promise<void> {
  await sandbox.requested((await sandbox.log()).length + calls);
}

/** Waits for a random number of calls. */
export function aMoment(parts: Pick<Parts, 'sandbox'>, most = 150): Promise<void> {
  return calledSince(parts, Math.ceil(Math.random() * most));
}

/** Waits until each batch that a worker has now is over, or given to another one. */
export async function untilGivenAway({ redis }: Pick<Parts, 'redis'>): Promise<void> {
  const admin = adminOf(redis);
  const locks = await admin.keys('*:lock');
  expect(locks).not.toEqual([]);
  const holders = await admin.mget(locks);
  await eventually(async () => (await admin.mget(locks)).every((holder, at) => holder !== holders[at]));
}

/**
 * The most rows that are unclear when a process that calls is lost: those that it has in hand (`src/engine/worker/prefetch.ts`), and
 * as many again whose calls have ended since the last entry of their ledger.
 */
function mostUnclear(callsInFlight: number): number {
  return withSpare(callsInFlight) + callsInFlight;
}

interface Losses {
  /** How often a process that calls was lost, or what it had written. */
  readonly lost: number;
  readonly rows?: number;
  /** Of each process. */
  readonly callsInFlight?: number;
}

export async function expectExactness(
  { cwd, sandbox }: Pick<Parts, 'cwd' | 'sandbox'>,
  { lost, rows: expectedRows = rows, callsInFlight = concurrency }: Losses,
): Promise<void> {
  const folder = await newestRunFolder(cwd);
  const report = await readCsv(folder, 'report.csv');
  const log = await sandbox.log();
  expectEveryRowOnce(report, expectedRows);
  await expectVerified(folder);
  expectAgreement(report, log, { killed: true });
  expect(report.filter((row) => row['_outcome'] === 'not_attempted')).toEqual([]);
  const calls = callsByRow(log);
  const suspected = report.filter((row) => row['_unclear'] === 'yes' && !hasUnclearFault(row, calls));
  expect(suspected.length).toBeLessThanOrEqual(lost * mostUnclear(callsInFlight));
}

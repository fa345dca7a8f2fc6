import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { openRedis } from '../../../src/engine/datastore/redis/redis.ts';
import { cqbatch, type Finished, startCqbatch } from '../../helpers/cqbatch.ts';
import { type Observed, observe } from '../../helpers/observed.ts';
import { type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { type Cells, readCsv } from '../../helpers/run-folder.ts';
import { sandboxToken, startSandbox, type TestSandbox } from '../../helpers/sandbox.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { startWorker, type WorkerProcess } from '../../helpers/worker.ts';
import { restoreCsv } from '../manifests.ts';

/** What machines have in common. */
export interface Place {
  readonly sandbox: TestSandbox;
  /** Without it, the datastore is the embedded one, unless `env` says otherwise. */
  readonly redis?: Pick<RedisServer, 'url'>;
  /** What the keys begin with: each test has its own. */
  readonly prefix?: string;
  /** What commands are told besides. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another build of the program. */
  readonly program?: string;
}

/** What stands in for a machine: its own folder, state folder and token file. Only Redis is shared. */
export interface Machine {
  readonly cwd: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command to its end. */
  run(...args: string[]): Promise<Finished>;
  /** The same, with other variables; an empty one counts as not set. */
  runWith(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Finished>;
  /** The same, for one document on standard output. */
  json<Document>(...args: string[]): Promise<Document>;
  start(...args: string[]): Observed;
  worker(...args: string[]): Promise<WorkerProcess>;
  write(name: string, text: string): Promise<void>;
  /** The folder of a run. */
  folder(runId: string): string;
  /** The state that the record of a run tells; undefined while there is no such run. */
  stateOf(runId: string): Promise<string | undefined>;
  report(runId: string): Promise<readonly Cells[]>;
}

/** A machine with a manifest `rows.csv`. @param rows its text, or how many evaluations it restores */
export async function newMachine(
  place: Place,
  rows: string | number = 0,
  token = sandboxToken,
): Promise<Machine> {
  const cwd = await temporaryFolder();
  const stateDir = join(cwd, '.cqbatch');
  const tokenFile = join(cwd, 'secrets', 'token');
  await mkdir(join(cwd, 'secrets'));
  await writeFile(tokenFile, `${token}\n`);
  await writeFile(join(cwd, 'rows.csv'), typeof rows === 'string' ? rows : restoreCsv(rows).text);
  const env = {
    ...(place.redis && { CQBATCH_QUEUE: place.redis.url, CQBATCH_QUEUE_PREFIX: place.prefix ?? 'none' }),
    CQBATCH_BASE_URL: place.sandbox.url,
    CQBATCH_TOKEN_FILE: tokenFile,
    ...place.env,
  };
  const options = { cwd, env, program: place.program };
  const folder = (runId: string): string => join(stateDir, 'runs', runId);
  return {
    cwd,
    stateDir,
    env,
    run: (...args) => cqbatch(args, options),
    runWith: (changed, ...args) => cqbatch(args, { ...options, env: { ...env, ...changed } }),
    async json(...args) {
      const { stdout, stderr } = await cqbatch([...args, '--json'], options);
      if (stdout === '') throw new Error(`cqbatch ${args.join(' ')} printed nothing:\n${stderr}`);
      return JSON.parse(stdout);
    },
    start: (...args) => observe(startCqbatch(args, options)),
    worker: (...args) => startWorker(['--log-level', 'debug', ...args], options),
    write: (name, text) => writeFile(join(cwd, name), text),
    folder,
    async stateOf(runId) {
      const text = await readFile(join(folder(runId), 'run.json'), 'utf8').catch(() => undefined);
      return text === undefined ? undefined : (JSON.parse(text) as { state: string }).state;
    },
    report: (runId) => readCsv(folder(runId), 'report.csv'),
  };
}

/** A sandbox that restores every evaluation, so that a run of `rows.csv` succeeds. */
export const kindSandbox = ['--evaluations', '3000', '--unrecoverable', '0%', '--not-deleted', '0%'] as const;

/** Starts one Redis for a group of tests. Each place has a sandbox, kind unless flags say otherwise, and its own keys. */
export function placesOnRedis() {
  let redis: RedisServer;
  let places = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  return async (...sandboxArgs: string[]) => {
    places += 1;
    const sandbox = await startSandbox(...kindSandbox, ...sandboxArgs);
    return { redis, sandbox, prefix: `place-${places}` };
  };
}

/** Opens the datastore of a place, until the test ends. */
export async function openDatastore({ redis, prefix }: { redis: { url: string }; prefix: string }) {
  const { datastore } = await openRedis({ url: redis.url, prefix, purpose: 'tests' });
  onTestFinished(() => datastore.close());
  return datastore;
}

/** Waits until a condition holds. How long that takes proves nothing: it only must not be for ever. */
export async function eventually(condition: () => unknown, interval = 50): Promise<void> {
  await expect.poll(condition, { interval }).toBeTruthy();
}

/** The same, for what a command tells, which costs more. */
export async function eventuallyTold(condition: () => unknown): Promise<void> {
  await eventually(condition, 200);
}

/** What the files below a folder hold, one after the other. */
export async function textsBelow(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(0);
  const texts = await Promise.all(
    files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')),
  );
  return texts.join('\n');
}

import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Edits, editsCsv } from '../e2e/edits.ts';
import { mixedCsv } from '../e2e/manifests.ts';
import { startCqbatch } from '../helpers/cqbatch.ts';
import { type FakedClock, fakedClock } from '../helpers/faked-clock.ts';
import { type Observed, observe } from '../helpers/observed.ts';
import { type RedisServer, startRedis } from '../helpers/redis-server.ts';
import { startSandbox, type TestSandbox } from '../helpers/sandbox.ts';
import { canMount, type SmallDisk, smallDisk } from '../helpers/small-disk.ts';
import type { Scenario } from './scenario.ts';
import { type Command, Story } from './story.ts';

export const runId = 'chaos';

/** Where a round is played: its folder, API and datastore. */
export interface Stage {
  readonly scenario: Scenario;
  readonly folder: string;
  /** The folder that contains the state folder. */
  readonly home: string;
  readonly stateDir: string;
  readonly sandbox: TestSandbox;
  readonly redis: RedisServer | undefined;
  readonly disk: SmallDisk | undefined;
  readonly clock: FakedClock | undefined;
  /** The rows of the manifest, with their order if it matters. */
  readonly rows: number;
  readonly edits: Edits | undefined;
  readonly story: Story;
  /** Every command that was started. */
  readonly commands: readonly Command[];
  start(...args: string[]): Command;
  /** The record of the run; undefined before there is one. */
  record(): Promise<{ readonly state: string } | undefined>;
  /** A text that changes whenever the run makes progress. */
  progress(): Promise<string>;
}

export async function setStage(scenario: Scenario): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'cqbatch-chaos-'));
  const has = (what: string): boolean => scenario.troubles.some((trouble) => trouble.what === what);
  const disk = canMount && has('fill disk') ? smallDisk(150) : undefined;
  const clock = has('set clock') ? await fakedClock() : undefined;
  const home = disk?.folder ?? folder;
  const stateDir = join(home, 'state');
  const edits = scenario.inOrder ? editsCsv(Math.ceil(scenario.rows / 9), 9) : undefined;
  const { text, rows } = edits ?? mixedCsv(scenario.rows);
  await writeFile(join(folder, 'rows.csv'), text);
  const ids = ['--evaluations', '3000', '--soundboards', '3000'];
  const sandbox = await startSandbox(...ids, ...scenario.api);
  const redis = scenario.redis ? await startRedis() : undefined;
  if (redis !== undefined) onTestFinished(() => redis.stop());
  const story = new Story();
  const commands: Command[] = [];
  const runFolder = join(stateDir, 'runs', runId);
  const record: Stage['record'] = () =>
    readFile(join(runFolder, 'run.json'), 'utf8').then(
      (text) => JSON.parse(text) as { state: string },
      () => undefined,
    );
  return {
    scenario,
    folder,
    home,
    stateDir,
    sandbox,
    redis,
    disk,
    clock,
    rows,
    edits,
    story,
    commands,
    start(...args) {
      const env = {
        ...sandbox.env,
        ...clock?.env,
        CQBATCH_STATE_DIR: stateDir,
        CQBATCH_MAX_FAILURES: String(scenario.maxFailures ?? 'none'),
        CQBATCH_ALLOW_PARTIAL: 'yes',
        CQBATCH_BACKOFF: '50ms',
        CQBATCH_CANARY_MAX_FAILURES: String(scenario.canary),
        ...(redis !== undefined && { CQBATCH_QUEUE: redis.url }),
      };
      const observed: Observed = observe(startCqbatch(args, { cwd: folder, env }));
      return story.follow(args, observed, commands);
    },
    record,
    async progress() {
      const journal = await stat(join(runFolder, 'journal.jsonl')).catch(() => undefined);
      return `${(await sandbox.log()).length} calls, journal of ${journal?.size} bytes, ${(await record())?.state}`;
    },
  };
}

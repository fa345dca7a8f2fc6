import { cp, readFile, rename, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { priorities } from '../../src/domain/terms.ts';
import { endOfLog } from '../helpers/redis-server.ts';
import type { Scenario, Trouble } from './scenario.ts';
import { runId } from './stage.ts';
import type { Command } from './story.ts';
import type { User } from './user.ts';

type Deed = (user: User, trouble: Trouble) => Promise<unknown>;

/** Disturbs a round as its scenario says, one disturbance after the other, and repairs each. */
export async function makeTrouble(user: User, { troubles }: Scenario): Promise<void> {
  for (const trouble of troubles) {
    await pause(trouble.afterMs);
    const { what, forMs } = trouble;
    user.stage.story.tell(`${what}, ${forMs} ms; ${await user.stage.progress()}`);
    await deeds[what](user, trouble).catch((error: Error) => {
      throw new Error(`${what} could not be done: ${error.message}`, { cause: error });
    });
  }
  user.stage.story.tell('no more trouble');
}

const deeds: Readonly<Record<Trouble['what'], Deed>> = {
  'kill coordinator': (user, trouble) => killed(user, user.coordinator, trouble),
  'cut journal': (user, trouble) => killed(user, user.coordinator, trouble, () => journalCut(user, trouble)),
  'freeze coordinator': (user, trouble) => frozen(user.coordinator, trouble),
  'interrupt coordinator': (user) => interrupted(user.coordinator, 1),
  'interrupt coordinator twice': (user) => interrupted(user.coordinator, 2),
  'kill worker': (user, trouble) => killed(user, workerOf(user, trouble), trouble),
  'freeze worker': (user, trouble) => frozen(workerOf(user, trouble), trouble),
  'interrupt worker twice': (user, trouble) => interrupted(workerOf(user, trouble), 2),
  'move run folder': (user, trouble) =>
    moved(user, join(user.stage.stateDir, 'runs', runId), join(user.stage.home, 'away'), trouble),
  'move state folder': (user, trouble) =>
    moved(user, user.stage.stateDir, join(user.stage.home, 'away'), trouble),
  async 'fill disk'({ stage: { disk } }, { forMs }) {
    disk?.fill();
    await pause(forMs);
    disk?.free();
  },
  async 'set clock'({ stage: { clock } }, { which, forMs }) {
    await clock?.set((which % 2 === 0 ? -1 : 1) * (which % 7 === 0 ? 90_000 : which));
    await pause(forMs);
  },
  async 'pause and unpause'({ stage }, { forMs }) {
    await stage.start('pause', runId).end;
    await pause(forMs);
    await stage.start('unpause', runId).end;
  },
  async 'set-rate'({ stage }, { which }) {
    await stage.start('set-rate', runId, which % 3 === 0 ? 'none' : `${20 + (which % 100)}/s`).end;
  },
  async 'set-priority'({ stage }, { which }) {
    await stage.start('set-priority', runId, priorities[which % priorities.length] ?? 'normal').end;
  },
  async look({ stage }, { which }) {
    await stage.start(['status', 'show', 'list', 'report'][which % 4] ?? 'list', '--json').end;
  },
  async 'start another'({ stage }) {
    stage.start('resume', runId);
  },
  cancel: ({ stage }) => stage.start('cancel', runId, '--yes').end,
  async 'kill Redis'({ stage: { redis } }, { forMs }) {
    await redis?.kill();
    await pause(forMs);
    await redis?.restart();
  },
  'empty Redis': (user) => told(user, (redis) => redis.flushall()),
  'cut connections': (user) =>
    told(user, (redis) => redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')),
  async 'put Redis back older'({ stage: { redis, folder } }, { forMs }) {
    if (redis === undefined) return;
    const [data, older] = [join(redis.folder, 'appendonlydir'), join(folder, 'older')];
    await cp(data, older, { recursive: true });
    await pause(forMs);
    await redis.kill();
    await rm(data, { recursive: true });
    await rename(older, data);
    await redis.restart();
  },
  async 'cut Redis'({ stage: { redis } }, { forMs }) {
    if (redis === undefined) return;
    const { file, bytes } = await endOfLog(redis);
    await pause(Math.min(forMs, 4_000));
    await redis.kill();
    await truncate(file, bytes);
    await redis.restart();
  },
};

function workerOf({ workers }: User, { which }: Trouble): Command | undefined {
  return workers[which % workers.length];
}

async function killed(
  user: User,
  command: Command | undefined,
  { forMs }: Trouble,
  then = async (): Promise<void> => {},
): Promise<void> {
  await user.away(async () => {
    command?.process.kill('SIGKILL');
    await command?.end;
    await then();
    await pause(forMs);
  });
}

/** The journal loses its last lines, but none from before the run last stopped in order. */
async function journalCut({ stage }: User, { which }: Trouble): Promise<void> {
  const path = join(stage.stateDir, 'runs', runId, 'journal.jsonl');
  const text = await readFile(path, 'latin1').catch(() => '');
  const lines = text.split(/(?<=\n)/);
  const safe = Math.max(1, 1 + lines.findLastIndex((line) => line.startsWith('{"settled":true')));
  const kept = Math.max(safe, lines.length - (which % 100));
  if (text !== '') await truncate(path, lines.slice(0, kept).join('').length);
}

async function frozen(command: Command | undefined, { forMs }: Trouble): Promise<void> {
  command?.process.kill('SIGSTOP');
  await pause(forMs);
  command?.process.kill('SIGCONT');
}

async function interrupted(command: Command | undefined, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    command?.process.kill('SIGINT');
    await pause(200);
  }
}

/** Moves a folder away and back; anything made in its place meanwhile is put aside. */
async function moved(user: User, path: string, away: string, { forMs }: Trouble): Promise<void> {
  const isThere = await stat(path).catch(() => undefined);
  if (isThere === undefined) return;
  await user.away(async () => {
    await rename(path, away);
    await pause(forMs);
    await rename(path, `${away}-${Date.now()}`).catch(() => {});
    await rename(away, path);
  });
}

async function told({ stage: { redis } }: User, tell: (redis: Redis) => Promise<unknown>): Promise<void> {
  const client = new Redis(redis?.port ?? 0);
  await tell(client);
  client.disconnect();
}

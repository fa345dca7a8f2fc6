import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PaceReport } from '../../../src/domain/pace.ts';
import { apiKeys, type Cluster, keyOf, openCluster } from '../../../src/engine/cluster/cluster.ts';
import type { Control } from '../../../src/engine/cluster/entries.ts';
import { serverClock } from '../../../src/engine/cluster/timeline-script.ts';
import type { Datastore } from '../../../src/engine/datastore/datastore.ts';
import { openRedis } from '../../../src/engine/datastore/redis/redis.ts';
import { runEntry as anyRun } from '../../helpers/cluster-entries.ts';
import { adminOf, describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';

const traffic = { accepted: 10, rejected: 2, durationMs: 123.4, active: 3, stated: [] };
const heartbeat = { active: 3, finished: 2, concurrency: 5, traffic };
const decision: PaceReport = {
  rate: 49.5,
  isKept: true,
  concurrency: 20,
  phase: 'holding',
  refuses503: false,
  reason: 'NUL \u0000, 🎧, "quotes"\n',
  accepted: 1_000,
  rejected: 2,
};
const visit = { want: 1, need: 1, active: 0, aheadMs: 100, leadInMs: 0 };

let entries = 0;

function runEntry(changes: Partial<ReturnType<typeof anyRun>> = {}) {
  entries += 1;
  return anyRun({ id: `run-${entries}`, key: `key-${entries}`, manifest: 'lone \ud800, 🎧.csv', ...changes });
}

/** When everything happens: however long a test takes, no lease expires. */
const now = Date.now();

/** A datastore whose clock stands still. */
function atOneMoment({ runScript, ...datastore }: Datastore): Datastore {
  return {
    ...datastore,
    runScript: async (script, ...rest) => {
      expect(script).toContain(serverClock);
      return runScript?.(script.replace(serverClock, `local now = ${now}\n`), ...rest);
    },
  };
}

/** An API that no other test knows. */
function newApi() {
  entries += 1;
  return { baseUrl: `https://api-${entries}.example.com` };
}

describeWithRedis('the processes that share a Redis', () => {
  let server: RedisServer;
  let datastore: Datastore;
  let cluster: Cluster;

  beforeAll(async () => {
    // A user with the least permissions that are needed.
    const user = 'user batch on >secret ~{cqbatch}:* +@all -@dangerous';
    server = await startRedis({
      args: user.split(' ').map((word, index) => (index === 0 ? `--${word}` : word)),
    });
    const url = `redis://batch:secret@127.0.0.1:${server.port}/0`;
    datastore = (await openRedis({ url, purpose: 'tests' })).datastore;
    cluster = openCluster(atOneMoment(datastore));
  });
  afterAll(async () => {
    await datastore.close();
    await server.stop();
  });

  test('return a run as last written, with its age by the clock of Redis', async () => {
    const timed = openCluster(datastore);
    const first = runEntry({ seenAt: '1970-01-01T00:00:00.000Z' });
    expect(await timed.putRun(first)).toBe(true);
    const second = { ...first, state: 'paused', rate: { text: 'auto..10/s', auto: true, perSecond: 10 } };
    expect(await timed.putRun(second)).toBe(true);
    const found = await timed.run(first.id);
    expect({ ...found, seenAt: first.seenAt }).toEqual(second);
    expect(Date.now() - Date.parse(found?.seenAt ?? '')).toBeLessThan(60_000);
    expect((await timed.runs()).map(({ id }) => id)).toContain(first.id);
    expect(await timed.run('unheard-of')).toBeUndefined();
  });

  test('keep the latest command and the latest rate for a run, even for a run that was never announced', async () => {
    const at = new Date().toISOString();
    const cancel: Control = { kind: 'command', command: 'cancel', at };
    const none: Control = { kind: 'rate', rate: null, at };
    expect(await cluster.controlsOf('unannounced')).toEqual([]);
    await cluster.tell('unannounced', { kind: 'command', command: 'pause', at });
    await cluster.tell('unannounced', none);
    await cluster.tell('unannounced', cancel);
    expect(await cluster.controlsOf('unannounced')).toEqual([cancel, none]);
    await cluster.clearControls('unannounced');
    expect(await cluster.controlsOf('unannounced')).toEqual([]);
  });

  test('forget runs and their commands, and workers, a day after their last sign of life', async () => {
    const [old, present] = [runEntry(), runEntry()];
    const pause: Control = { kind: 'command', command: 'pause', at: new Date().toISOString() };
    for (const run of [old, present]) {
      await cluster.putRun(run);
      await cluster.tell(run.id, pause);
    }
    const admin = adminOf(server);
    const key = keyOf(datastore.prefix ?? '', 'runs');
    const twoDays = 2 * 24 * 60 * 60 * 1_000;
    const written = (await admin.hget(key, old.id)) ?? '';
    await admin.hset(key, old.id, written.replace(/^\S+/, String(now - twoDays)));
    const workers = keyOf(datastore.prefix ?? '', apiKeys(present).workers);
    await cluster.join(present, '1').beat(heartbeat, false);
    await admin.hset(workers, 'gone', `${now - twoDays} {}`);
    await cluster.sweep(present);
    expect(await admin.hlen(workers)).toBe(1);
    expect([await cluster.run(old.id), await cluster.controlsOf(old.id)]).toEqual([undefined, []]);
    expect(await cluster.run(present.id)).toBeDefined();
    expect(await cluster.controlsOf(present.id)).toEqual([pause]);
    expect(await admin.pttl(key)).toBeGreaterThan(0);
  });

  test('know the workers of an API until they leave, and one of them leads', async () => {
    const api = newApi();
    const [first, second] = [cluster.join(api, '1'), cluster.join(api, '1')];
    expect(await first.beat(heartbeat, true)).toMatchObject({ leads: true, policies: new Map() });
    const followed = await second.beat(heartbeat, true);
    expect(followed).toMatchObject({ leads: false });
    expect(followed.reports.size).toBe(1);
    const led = await first.beat({ ...heartbeat, traffic: { ...traffic, accepted: 11 } }, true);
    expect([...led.reports.values()].map(({ accepted }) => accepted).sort()).toEqual([10, 11]);
    expect(await cluster.workers(api)).toHaveLength(2);
    expect(await cluster.workers(newApi())).toEqual([]);
    const admin = adminOf(server);
    const key = keyOf(datastore.prefix ?? '', apiKeys(api).workers);
    const [written = ''] = await admin.hvals(key);
    await admin.hset(key, 'dead', written.replace(/^\S+/, String(now - 20_000)));
    // A worker that is gone counts nowhere, unless lost workers are wanted.
    expect(await cluster.workers(api)).toHaveLength(2);
    expect(await cluster.workers(api, 60_000)).toHaveLength(3);
    await first.leaveCluster();
    expect(await cluster.workers(api)).toMatchObject([{ version: '1', active: 3, ...api, traffic }]);
    expect(await second.beat(heartbeat, true)).toMatchObject({ leads: true });
  });

  test('have no leader, and nothing is called, once the leading worker gives up and no worker wants to call', async () => {
    const api = newApi();
    const [first, second] = [cluster.join(api, '1'), cluster.join(api, '1')];
    expect(await first.beat(heartbeat, true)).toMatchObject({ leads: true, hasLed: false });
    await first.decide(decision);
    expect(await second.giveUpLead()).toBe(false);
    await second.take(visit);
    expect(await first.giveUpLead()).toBe(false);
    await second.take({ ...visit, need: 0 });
    expect(await first.giveUpLead()).toBe(true);
    expect(await cluster.pace(api)).toBeUndefined();
    expect(await second.take(visit)).toMatchObject({ isSet: false, count: 0 });
    expect(await second.beat(heartbeat, false)).toMatchObject({ leads: false, pace: decision });
    expect(await first.beat(heartbeat, true)).toMatchObject({ leads: true, hasLed: true });
    await first.decide(decision);
    expect(await cluster.pace(api)).toMatchObject(decision);
    // No slot is taken, so that the first one comes without a wait.
    expect((await second.take(visit)).from).toBe(now);
    await second.take({ ...visit, need: 0 });
    expect(await first.giveUpLead()).toBe(true);
    expect(await second.beat(heartbeat, true)).toMatchObject({ leads: true, hasLed: false });
    expect(await first.beat(heartbeat, true)).toMatchObject({ leads: false });
  });

  test('report the other workers only to the leading worker, as far as it needs them', async () => {
    const api = newApi();
    const admin = adminOf(server);
    const [key, runs] = [apiKeys(api).workers, 'runs'].map((name) => keyOf(datastore.prefix ?? '', name));
    const silent = `${now - 2_500} ${JSON.stringify({ traffic })}`;
    await admin.hset(key ?? '', 'silent', silent);
    const run = runEntry(api);
    const ended = runEntry({ ...api, state: 'completed' });
    for (const entry of [run, ended]) await cluster.putRun(entry);
    const [first, second] = [cluster.join(api, '1'), cluster.join(api, '1')];
    await first.beat(heartbeat, true);
    await second.beat(heartbeat, false);
    const led = await first.beat(heartbeat, true);
    expect([led.reports.size, led.hasRuns, [...led.policies.keys()]]).toEqual([2, true, [run.id]]);
    expect(await second.beat(heartbeat, true)).toMatchObject({
      leads: false,
      hasRuns: false,
      policies: new Map(),
      rows: 0,
      reports: new Map([[expect.any(String), traffic]]),
    });
    // A run whose coordinator is gone sets no rate, but may have left rows.
    const written = (await admin.hget(runs ?? '', run.id)) ?? '';
    await admin.hset(runs ?? '', run.id, written.replace(/^\S+/, String(now - 60_000)));
    expect(await first.beat(heartbeat, true)).toMatchObject({ hasRuns: true, policies: new Map() });
  });

  test.each([
    { state: 'running', leads: true },
    { state: 'paused', leads: false },
    { state: 'completed', leads: false },
  ])(
    'leave a worker with nothing to call the lead while a run is $state: $leads',
    async ({ state, leads }) => {
      const api = newApi();
      const idle = cluster.join(api, '1');
      await cluster.putRun(runEntry(newApi()));
      expect(await idle.beat(heartbeat, false)).toMatchObject({ leads: false });
      await cluster.putRun(runEntry({ ...api, state }));
      expect(await idle.beat(heartbeat, false)).toMatchObject({ leads });
    },
  );

  test('learn what the leading worker decides for the present runs', async () => {
    const api = newApi();
    const rate = { text: '50/s', auto: false, perSecond: 50 };
    const run = runEntry({ ...api, rate, rows: 100, done: 30 });
    const paused = runEntry({ ...api, state: 'paused', rate: { ...rate, perSecond: 5 } });
    for (const entry of [run, paused, runEntry({ ...api, state: 'completed' }), runEntry()])
      await cluster.putRun(entry);
    const [first, second] = [cluster.join(api, '1'), cluster.join(api, '1')];
    const { policies, rows } = await first.beat(heartbeat, true);
    expect(policies).toEqual(new Map([[run.id, rate]]));
    expect(rows).toBe(70);
    expect(await cluster.pace(api)).toBeUndefined();
    expect(await second.decide({ ...decision, rate: 500 })).toBe(false);
    expect(await first.decide(decision)).toBe(true);
    expect(await cluster.pace(api)).toMatchObject({ ...decision, runs: [run.id], workers: 1 });
    expect((await second.beat(heartbeat, true)).pace).toMatchObject(decision);
    expect(await second.take({ ...visit, need: 30 })).toMatchObject({
      isSet: true,
      gap: 1_000 / 49.5,
      seats: 20,
    });
  });

  test('find no pace once the last worker has left, and the next worker begins with its limit', async () => {
    const api = newApi();
    const [first, second] = [cluster.join(api, '1'), cluster.join(api, '1')];
    await first.beat(heartbeat, true);
    await second.beat(heartbeat, true);
    await first.decide(decision);
    await first.leaveCluster();
    // The other worker may still call at that pace.
    expect(await cluster.pace(api)).toMatchObject(decision);
    await second.beat(heartbeat, true);
    await second.decide(decision);
    await second.leaveCluster();
    expect(await cluster.pace(api)).toBeUndefined();
    const third = cluster.join(api, '1');
    expect((await third.beat(heartbeat, true)).pace).toMatchObject(decision);
    await third.decide({ ...decision, rate: 7 });
    expect(await cluster.pace(api)).toMatchObject({ rate: 7 });
  });

  test('leave entries of another version alone', async () => {
    const api = newApi();
    const admin = adminOf(server);
    await admin.hset(keyOf(datastore.prefix ?? '', apiKeys(api).workers), 'other', `${now} {"v":9}`);
    await admin.hset(keyOf(datastore.prefix ?? '', 'runs'), 'other', `${now} key not JSON`);
    const membership = cluster.join(api, '1');
    expect((await membership.beat(heartbeat, true)).reports.size).toBe(1);
    expect(await cluster.run('other')).toBeUndefined();
  });
});

import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openCluster } from '../../../src/engine/cluster/cluster.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { startSandbox, type TestSandbox } from '../../helpers/sandbox.ts';
import type { WorkerProcess } from '../../helpers/worker.ts';
import { expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { kindSandbox, newMachine, openDatastore, placesOnRedis, textsBelow } from './machine.ts';

const tokenOf = (tenant: string): string => `token-of-${tenant}-that-must-never-be-seen`;

/** One API with a sandbox behind it for each token: own limits, own trouble, own log. Other tokens reach the first. */
async function startApi(sandboxes: readonly TestSandbox[]): Promise<string> {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const asked = sandboxes.find(({ token }) => headers.authorization === `Bearer ${token}`) ?? sandboxes[0];
    const forward = request({ agent, port: asked?.port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forward.destroy());
    incoming.pipe(forward);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    agent.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The limits of the API that workers have found, each at least one. */
function limitsOf(workers: readonly WorkerProcess[]): readonly number[] {
  const limits = workers
    .flatMap(({ logged }) => logged('pace'))
    .map(({ limit_per_s: limit }) => Number(limit ?? 0));
  expect(limits.some((limit) => limit > 0)).toBe(true);
  return limits;
}

describeWithRedis('tenants that share workers', () => {
  const newPlace = placesOnRedis();

  async function newScene(limits: Readonly<Record<string, string>>) {
    const sandboxes: Record<string, TestSandbox> = {};
    for (const [tenant, limit] of Object.entries(limits)) {
      const flags = ['--token', tokenOf(tenant), '--limit', limit, '--limit-headers', 'ratelimit'];
      sandboxes[tenant] = await startSandbox(...kindSandbox, '--latency', '10ms', ...flags);
    }
    const url = await startApi(Object.values(sandboxes));
    const place = {
      ...(await newPlace()),
      sandbox: { ...Object.values(sandboxes)[0], url } as TestSandbox,
    };
    return {
      place,
      sandboxes: sandboxes as Readonly<Record<'acme' | 'other', TestSandbox>>,
      cluster: openCluster(await openDatastore(place)),
      api: (rateGroup: string) => ({ baseUrl: url, rateGroup }),
      /** A worker for a tenant. */
      async workerOf(tenant: string, token = tokenOf(tenant)): Promise<WorkerProcess> {
        const machine = await newMachine(place, 0, token);
        const stalled = tenant === 'other' ? ['--timeout', '5s'] : [];
        return machine.worker('--rate-group', tenant, ...stalled);
      },
    };
  }

  test('call the API each at its own limit, also while it stalls for another', async () => {
    const rows = 150;
    const { place, sandboxes, cluster, api, workerOf } = await newScene({
      acme: 'token-bucket:rate=40,burst=100',
      other: 'token-bucket:rate=15,burst=100',
    });
    const acmeWorkers = await Promise.all([workerOf('acme'), workerOf('acme')]);
    const otherWorker = await workerOf('other');
    const [home, otherHome] = [await newMachine(place, rows), await newMachine(place, rows)];
    const run = ['run', 'rows.csv', '--yes', '--no-worker'] as const;
    const other = otherHome.start(...run, '--run-id', 'b', '--rate-group', 'other');
    await sandboxes.other.requested(20);
    sandboxes.other.configure({ latency: '1000s' });

    const acme = ['--run-id', 'a', '--rate-group', 'acme', '--log-level', 'debug'];
    const { code, stderr } = await home.run(...run, ...acme);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const report = await home.report('a');
    const log = await sandboxes.acme.log();
    expectEveryRowOnce(report, rows);
    expectAgreement(report, log);
    expect(log.map(({ status }) => status)).toEqual(Array(rows).fill(200));
    // The rate was that of the tenant, not of the other one, which holds its calls.
    expect(Math.max(...limitsOf(acmeWorkers))).toBeGreaterThan(30);
    expect(Math.max(...limitsOf([otherWorker]))).toBeLessThan(20);
    expect(await cluster.workers(api('acme'))).toHaveLength(2);

    sandboxes.other.configure({ latency: '10ms' });
    expect(await other.end).toMatchObject({ code: 0 });
    expectEveryRowOnce(await otherHome.report('b'), rows);

    const written = await textsBelow(place.redis.folder);
    expect(written).toContain('evaluation_id');
    const states = await Promise.all([home, otherHome].map(({ stateDir }) => textsBelow(stateDir)));
    const said = [stderr, ...[other, otherWorker, ...acmeWorkers].map((each) => each.stderr)];
    for (const text of [written, ...states, ...said]) expect(text).not.toMatch(/must-never-be-seen/);
  });

  test('are not served by a worker of another tenant, or of none', async () => {
    const { place, sandboxes, workerOf } = await newScene({ acme: 'none', other: 'none' });
    const home = await newMachine(place, 30);
    const run = ['run', 'rows.csv', '--yes', '--no-worker'] as const;
    const waiting = home.start(...run, '--run-id', 'a', '--rate-group', 'acme');
    const without = home.start(...run, '--run-id', 'none');
    await workerOf('other');
    expect(await home.run(...run, '--run-id', 'b', '--rate-group', 'other')).toMatchObject({ code: 0 });
    expect(await sandboxes.acme.log()).toEqual([]);
    expect(await sandboxes.other.log()).toHaveLength(30);

    await (await newMachine(place, 0, tokenOf('other'))).worker();
    // With that token, another run has restored its rows before.
    expect(await without.end).toMatchObject({ code: 1 });
    expect(await sandboxes.acme.log()).toEqual([]);
    expect(await sandboxes.other.log()).toHaveLength(60);

    await workerOf('acme');
    expect(await waiting.end).toMatchObject({ code: 0 });
    expect((await sandboxes.acme.log()).map(({ status }) => status)).toEqual(Array(30).fill(200));
  });
});

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { thisActor } from '../../src/actor.ts';
import { type Agent, startAgent } from '../helpers/agent.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { approveFile } from '../helpers/approve-plan.ts';
import { asUsersHaveIt, cqbatch } from '../helpers/cqbatch.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { allowedSigners, sshKey } from '../helpers/ssh-key.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { restoreCsv } from './manifests.ts';

const ben = { user: 'ben', host: 'laptop' };

/** A folder whose settings name Ben as approver; agents work there. */
async function workshop(settings: object = {}, datastore = anyDatastore()) {
  const cwd = await temporaryFolder();
  const sandbox = await startSandbox('--unrecoverable', '0%', '--not-deleted', '0%');
  const options = { cwd, env: { ...sandbox.env, ...datastore, ...asUsersHaveIt } };
  const state = join(cwd, '.cqbatch');
  await mkdir(state);
  const keys = { ben: await sshKey(), other: await sshKey() };
  const approvers = await allowedSigners({ ben: keys.ben });
  await writeFile(join(state, 'config.json'), JSON.stringify({ approvers, ...settings }));

  /** The agent plans a manifest of its own. */
  const planned = async (agent: Agent, name: string, rows: number, first = 1): Promise<string> => {
    await writeFile(join(cwd, `${name}.csv`), restoreCsv(rows, first).text);
    const plan = `${name}.cqplan`;
    await agent.use('plan', { manifest: `${name}.csv`, out: plan });
    return plan;
  };
  const approve = (file: string, key = keys.ben, by = ben) => approveFile(join(cwd, file), key, by);
  /** A plan that Ben has approved. */
  const approved = async (...wanted: Parameters<typeof planned>): Promise<string> => {
    const plan = await planned(...wanted);
    await approve(plan);
    return plan;
  };
  const agent = (...flags: string[]) => startAgent(options, ...flags);
  const run = (...args: string[]) => cqbatch(args, options);
  return { cwd, sandbox, keys, planned, approve, approved, agent, run };
}

/** Waits until a run is in this state. */
const inState = (agent: Agent, run: unknown, state: string) =>
  vi.waitFor(
    async () => expect(await agent.use('look_at_run', { run })).toMatchObject({ status: { state } }),
    20_000,
  );

describe('an agent can not run', () => {
  test('anything, unless a person has given the server a number of rows', async () => {
    const { agent, approved, sandbox } = await workshop();
    const served = await agent();
    const plan = await approved(served, 'week', 3);
    expect(await served.refused('run_plan', { plan })).toMatchObject({ code: 'BUDGET_MISSING' });
    expect(await sandbox.log()).toEqual([]);
  });

  test('a manifest, or a plan that no person has approved, though the settings require no approval', async () => {
    const { agent, planned, approve, keys, sandbox } = await workshop();
    const served = await agent('--max-rows', '100');
    const plan = await planned(served, 'week', 3);
    const refused = async (file = plan) => served.refused('run_plan', { plan: file });
    expect(await refused()).toMatchObject({
      code: 'APPROVAL_MISSING',
      message: expect.stringContaining('there is none'),
    });
    await approve(plan, keys.other);
    expect(await refused()).toMatchObject({
      message: expect.stringContaining('has no good signature of an approver'),
    });
    expect(await refused('week.csv')).toMatchObject({ code: 'FILE_NOT_ALLOWED' });
    expect(await served.use('list_runs')).toEqual({ runs: [] });
    expect(await sandbox.log()).toEqual([]);
  });

  test('a plan that only its user has approved, where the settings want another person; elsewhere it can', async () => {
    const { agent, planned, approve, keys, sandbox, cwd } = await workshop({ require_approval_above: 2 });
    const served = await agent('--max-rows', '100');
    const plan = await planned(served, 'week', 3);
    await approve(plan, keys.ben, thisActor());
    expect(await served.refused('run_plan', { plan })).toMatchObject({
      code: 'APPROVAL_MISSING',
      message: expect.stringContaining('must come from another person'),
    });
    expect(await sandbox.log()).toEqual([]);
    const config = join(cwd, '.cqbatch', 'config.json');
    const { require_approval_above: _, ...settings } = JSON.parse(await readFile(config, 'utf8'));
    await writeFile(config, JSON.stringify(settings));
    const begun = await served.use('run_plan', { plan });
    await inState(served, begun['run'], 'completed');
    expect(await sandbox.log()).toHaveLength(3);
  });

  test('a plan without the reason that the settings want', async () => {
    const { agent, approved } = await workshop({ require_reason: 'yes' });
    const served = await agent('--max-rows', '100');
    const plan = await approved(served, 'week', 3);
    expect(await served.refused('run_plan', { plan })).toMatchObject({ code: 'REASON_MISSING' });
    expect(await served.use('run_plan', { plan, reason: 'ticket 7' })).toMatchObject({ rows: 3 });
  });
});

test('an agent runs a plan that a person has approved, once, and the history says so', async () => {
  const { agent, approved, sandbox, run } = await workshop();
  const served = await agent('--max-rows', '100');
  const plan = await approved(served, 'week', 3);
  const begun = await served.use('run_plan', { plan, reason: 'ticket 7' });
  expect(begun).toMatchObject({ state: 'running', rows: 3, budget_left: 97 });
  await inState(served, begun['run'], 'completed');
  expect(await sandbox.log()).toHaveLength(3);
  const { stdout } = await run('show', String(begun['run']));
  expect(stdout.replace(/\s+/g, ' ')).toMatch(/planned by an agent of \S+ on \S+ ticket 7/);
  expect(await served.refused('run_plan', { plan })).toMatchObject({ code: 'RUN_EXISTS' });
  expect(await sandbox.log()).toHaveLength(3);
});

describe('the rows of --max-rows', () => {
  test('are enough for no larger plan', async () => {
    const { agent, approved, sandbox } = await workshop();
    const served = await agent('--max-rows', '3');
    const plan = await approved(served, 'week', 4);
    expect(await served.refused('run_plan', { plan })).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: expect.stringContaining('The plan has 4 calls, and 3 of the 3 rows of --max-rows are left'),
    });
    expect(await served.use('list_runs')).toEqual({ runs: [] });
    expect(await sandbox.log()).toEqual([]);
  });

  test('are for all runs of agents together, also after a restart, and not for those of people', async () => {
    const { agent, approved, sandbox, run } = await workshop();
    const served = await agent('--max-rows', '5');
    const [first, second, third, own] = [
      await approved(served, 'first', 3),
      await approved(served, 'second', 3, 11),
      await approved(served, 'third', 2, 21),
      await approved(served, 'own', 9, 31),
    ];
    expect(await run('run', own)).toMatchObject({ code: 0 });
    const { run: id } = await served.use('run_plan', { plan: first });
    await inState(served, id, 'completed');
    expect(await served.refused('run_plan', { plan: second })).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    await served.client.close();

    const restarted = await agent('--max-rows', '5');
    expect(await restarted.refused('run_plan', { plan: second })).toMatchObject({ code: 'BUDGET_EXCEEDED' });
    const last = await restarted.use('run_plan', { plan: third });
    expect(last).toMatchObject({ budget_left: 0 });
    await inState(restarted, last['run'], 'completed');
    expect(await sandbox.log()).toHaveLength(9 + 3 + 2);
  });

  test('are not exceeded by two servers at the same time', async () => {
    const { agent, approved, sandbox } = await workshop();
    const servers = [await agent('--max-rows', '4'), await agent('--max-rows', '4')] as const;
    const plans = [await approved(servers[0], 'first', 3), await approved(servers[1], 'second', 3, 11)];
    await Promise.all(servers.map((served, index) => served.call('run_plan', { plan: plans[index] })));
    await Promise.all(servers.map((served) => served.client.close()));
    expect((await sandbox.log()).length).toBeLessThanOrEqual(3);
  });
});

test('on the embedded datastore, a second run waits for the agent to try again, and costs no rows', async () => {
  const { agent, approved, sandbox } = await workshop({ rate: '20/s' }, {});
  const served = await agent('--max-rows', '43');
  const [first, second] = [await approved(served, 'first', 40), await approved(served, 'second', 3, 101)];
  const { run } = await served.use('run_plan', { plan: first });
  expect(await served.refused('run_plan', { plan: second })).toMatchObject({ code: 'DATASTORE_LOCKED' });
  await inState(served, run, 'completed');
  // The datastore is free once the report is written.
  const begun = await vi.waitFor(() => served.use('run_plan', { plan: second }), 20_000);
  expect(begun).toMatchObject({ budget_left: 0 });
  await sandbox.requested(43);
});

test('a run of an agent is interrupted when its client leaves, and a person can resume it', async () => {
  const { agent, approved, sandbox, run } = await workshop({ rate: '20/s' });
  const served = await agent('--max-rows', '1000');
  const { run: id } = await served.use('run_plan', { plan: await approved(served, 'week', 60) });
  await sandbox.requested(5);
  await served.client.close();
  const status = JSON.parse((await run('status', String(id), '--json')).stdout);
  expect(status.state).toBe('interrupted');
  expect(status.done).toBeLessThan(60);
  expect(await run('resume', String(id), '--rate', 'none')).toMatchObject({ code: 0 });
  expect(await sandbox.log()).toHaveLength(60);
});

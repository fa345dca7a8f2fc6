import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { restoreCsv } from './manifests.ts';
import { describeRate, type NewScene, statedLimit, statedPerS } from './rate.conformance.ts';
import { eventually, kindSandbox, type Machine, newMachine } from './redis/machine.ts';

interface LearnedLimit {
  readonly base_url: string;
  readonly token: string;
  readonly rate_per_s?: number;
  readonly wait_until?: string;
}

async function estimatedLimits({ stateDir }: Machine): Promise<readonly LearnedLimit[]> {
  const text = await readFile(join(stateDir, 'limits.json'), 'utf8');
  return (JSON.parse(text) as { limits: LearnedLimit[] }).limits;
}

/** One process that does everything. */
function alone(datastore: () => Readonly<Record<string, string>>): NewScene {
  return async (rows, ...sandboxArgs) => {
    const sandbox = await startSandbox(...kindSandbox, ...sandboxArgs);
    const place = { redis: { url: '' } as RedisServer, sandbox, prefix: 'none', env: datastore() };
    return { home: await newMachine(place, rows), sandbox, flags: [] };
  };
}

describe('a run on the embedded datastore', () => {
  const newScene = alone(() => ({}));
  describeRate(newScene);

  test('passes what it has learned to the next run with the same token', async () => {
    const { home, sandbox } = await newScene(30, ...statedLimit);
    await home.run('run', 'rows.csv', '--yes', '--quiet');
    const [learned] = await estimatedLimits(home);
    expect(learned).toMatchObject({ base_url: sandbox.url, token: expect.stringMatching(/^[0-9a-f]{4}$/) });
    expect(learned?.rate_per_s).toBeCloseTo(statedPerS, -1);

    const again = ['run', 'rows.csv', '--yes', '--quiet', '--log-level', 'info'];
    // It says so at its beginning.
    await home.write('few.csv', restoreCsv(5).text);
    const second = await home.run(...again.with(1, 'few.csv'));
    expect(second.stderr).toContain('"reason":"the limit of the last run"');

    await home.write('secrets/token', 'another-token\n');
    sandbox.configure({ token: 'another-token' });
    const other = await home.run(...again);
    expect(other.stderr).not.toContain('"reason":"the limit of the last run"');
    expect(await estimatedLimits(home)).toHaveLength(2);
  });
});

describe('a run', () => {
  const newScene = alone(anyDatastore);

  test('asks the API again at once when resumed with another rate', async () => {
    const quota = 10;
    const { home, sandbox } = await newScene(30, '--limit', `daily-quota:limit=${quota}`);
    const run = home.start('run', 'rows.csv', '--yes');
    await run.says('(the API asks to wait)');
    run.kill('SIGINT');
    await run.end;
    const before = (await sandbox.log()).length;
    const resumed = home.start('resume', '--rate', '50/s');
    await sandbox.requested(before + 1);
    resumed.kill('SIGINT');
    expect(await resumed.end).toMatchObject({ code: 130 });
  });

  test('that waits for hours names what asks for it, and calls at once when told to as it says', async () => {
    const { home, sandbox } = await newScene(30, '--limit', 'daily-quota:limit=10');
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r');
    await run.says('"Retry-After: ');
    await run.says('to call sooner, type: cqbatch set-rate r 5/s');
    await eventually(async () =>
      /"Retry-After: \d+" asks for this wait/.test((await home.run('status', 'r')).stdout),
    );
    sandbox.configure({ limit: 'token-bucket:rate=1000,burst=1000' });
    expect((await home.run('set-rate', 'r', '5/s')).code).toBe(0);
    expect(await run.end).toMatchObject({ code: 0 });
  });
});

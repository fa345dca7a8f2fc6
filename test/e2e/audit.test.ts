import { describe, expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import type { Observed } from '../helpers/observed.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { describeAnswers, describeEvents, type NewScene, type Story } from './audit.conformance.ts';
import { kindSandbox, newMachine } from './redis/machine.ts';

/** One process that does everything. */
function alone(datastore: () => Readonly<Record<string, string>>): NewScene {
  return async (rows, ...sandboxArgs) => {
    const sandbox = await startSandbox(...kindSandbox, ...sandboxArgs);
    const place = {
      redis: { url: '' } as RedisServer,
      sandbox,
      prefix: 'none',
      env: { ...datastore(), CQBATCH_BACKOFF: '20ms' },
    };
    const home = await newMachine(place, rows);
    const kill = async (run: Observed): Promise<void> => {
      run.kill('SIGKILL');
      await run.end;
    };
    return { home, elsewhere: home, sandbox, flags: [], kill };
  };
}

describe('a run on the embedded datastore', () => {
  describeEvents(alone(() => ({})));
});

describe('a run', () => {
  const newScene = alone(anyDatastore);
  describeAnswers(newScene);

  test('records every attempt of a row as the sandbox saw it, even in a retry', async () => {
    const { home, sandbox, flags } = await newScene(60, '--fault', '503=25%,reset=10%,500-after-commit=8%');
    const quickly = ['--yes', '--attempts', '3', ...flags];
    await home.run('run', 'rows.csv', '--run-id', 'r', ...quickly);
    sandbox.configure({ fault: 'none' });
    await home.run('retry', 'r', '--run-id', 'again', ...quickly);
    const log = await sandbox.log();
    const report = await home.report('r');
    const interesting = report.filter(
      (row) => Number(row['_attempts']) > 1 || row['_outcome'] !== 'succeeded',
    );
    expect(interesting.length).toBeGreaterThan(3);
    for (const { _row: row = '', evaluation_id: id } of interesting.slice(0, 8)) {
      const { runs } = await home.json<Story>('show', 'r', '--row', row);
      const attempts = runs.flatMap((run) => run.attempts);
      const seen = log.filter((entry) => entry.id === id);
      expect(attempts.map((attempt) => attempt.http_status)).toEqual(seen.map(({ status }) => status));
      expect(
        attempts.filter(({ at, duration_ms: ms, code }) => at === null || ms === null || code === null),
      ).toEqual([]);
      const again = await home.json<Story>('show', 'again', '--row', row);
      if (runs.length > 1) expect(again).toEqual({ ...again, runs });
    }
    const { stdout } = await home.run('show', 'r', '--row', interesting[0]?.['_row'] ?? '');
    expect(stdout).toMatch(/^Row \d+ of run r \(line \d+ of rows.csv\)\n {2}evaluation_id {2}\d+\n/);
    expect(await home.run('show', 'r', '--row', '61')).toMatchObject({ code: 2 });
    expect(await home.run('show', 'r', '--row', 'x')).toMatchObject({ code: 2 });
  });
});

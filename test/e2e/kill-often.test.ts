import { once } from 'node:events';
import { expect, test } from 'vitest';
import { cqbatchProcess, startCqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { callsByRow } from './agreement.ts';
import { newHome } from './home.ts';
import { mixedCsv } from './manifests.ts';
import { aMoment, expectExactness, faults } from './redis/kill-matrix.ts';

const rows = 240;
const concurrency = 6;

/** Runs a manifest whose process is killed several times in the middle of calls, at random ones, and lets it come to its end. */
async function runKilled(kills: number, backoff: string, ...sandboxArgs: string[]) {
  const flags = [
    '--evaluations',
    '3000',
    '--soundboards',
    '3000',
    '--latency',
    '300ms..400ms',
    ...sandboxArgs,
  ];
  const { cwd, sandbox, options } = await newHome(mixedCsv(rows).text, flags, { CQBATCH_BACKOFF: backoff });
  const callArgs = [
    // Slow enough not to be done before the last kill.
    ...['--rate', 'none', '--concurrency', String(concurrency)],
  ];
  for (let kill = 0; kill < kills; kill += 1) {
    const args = kill === 0 ? ['run', 'rows.csv', '--yes'] : ['resume'];
    const child = startCqbatch([...args, ...callArgs], options);
    await aMoment({ sandbox }, 25);
    child.kill('SIGKILL');
    // The API, which takes its time, has not answered this call.
    expect((await sandbox.log()).some(({ status }) => status === null)).toBe(true);
    await once(child, 'close');
  }
  const { code, stderr } = await cqbatchProcess(['resume', ...callArgs], options);
  expect(stderr).not.toMatch(/^error: /m);
  expect(code).toBe(1);
  return { cwd, sandbox };
}

test('kill -9 of the process five times at random moments loses no row and marks every row that is called twice', async () => {
  const { cwd, sandbox } = await runKilled(5, '50ms');
  await expectExactness({ cwd, sandbox }, { lost: 5, rows, callsInFlight: concurrency });
  const calledTwice = [...callsByRow(await sandbox.log()).values()].filter((calls) => calls.length > 1);
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
  expect(report.filter((row) => row['_unclear'] === 'yes').length).toBeGreaterThanOrEqual(calledTwice.length);
});

test('kill -9 of the process three times while handed-back rows wait loses no row and calls none twice', async () => {
  // No process holds a row for that long.
  const parts = await runKilled(3, '6s', '--fault', faults);
  await expectExactness(parts, { lost: 3, rows, callsInFlight: concurrency });
});

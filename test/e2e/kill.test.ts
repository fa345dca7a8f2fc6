import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { cqbatch, saying, startCqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { callsByRow, expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { mixedCsv } from './manifests.ts';

const kills = 5;
const concurrency = 20;
// Slow enough not to be done before the last kill.
const callArgs = [
  '--rate',
  '300/s',
  '--concurrency',
  String(concurrency),
  '--backoff',
  '50ms',
  '--timeout',
  '2s',
];

describe('kill -9 of the process', () => {
  test('five times at random moments loses no row and marks what was called twice', {
    timeout: 240_000,
  }, async () => {
    const cwd = await temporaryFolder();
    const { text, rows } = mixedCsv(2_000);
    await writeFile(join(cwd, 'manifest.csv'), text);
    const sandbox = await startSandbox(
      '--evaluations',
      '3000',
      '--soundboards',
      '3000',
      '--latency',
      '5ms..40ms',
    );
    const options = { cwd, env: sandbox.env };

    for (let kill = 0; kill < kills; kill += 1) {
      const args = kill === 0 ? ['run', 'manifest.csv', '--yes'] : ['resume'];
      const child = startCqbatch([...args, ...callArgs], options);
      await saying(child, 'Run 20');
      // The moment of death is what is random here; nothing waits for this time to pass.
      await sleep(Math.random() * 1_000);
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    const { code, stderr } = await cqbatch(['resume', ...callArgs], options);
    expect(stderr).not.toContain('error');
    expect(code).toBe(1);

    const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
    const log = await sandbox.log();
    expectEveryRowOnce(report, rows);
    expectAgreement(report, log, { killed: true });
    const calledTwice = [...callsByRow(log).values()].filter((calls) => calls.length > 1);
    expect(calledTwice.length).toBeLessThanOrEqual(kills * concurrency);
    expect(report.filter((row) => row['_unclear'] === 'yes').length).toBeGreaterThanOrEqual(
      calledTwice.length,
    );
    expect(report.filter((row) => row['_outcome'] === 'not_attempted')).toEqual([]);
  });
});

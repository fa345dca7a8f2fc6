import { describe, expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { shapes } from '../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';
import { restoreCsv } from './manifests.ts';

const run = ['run', 'rows.csv', '--yes'];

describe.each(shapes)('a service of the shape %s', (shape) => {
  async function scene(text: string, ...sandboxArgs: string[]) {
    const env = { ...anyDatastore(), CQBATCH_BACKOFF: '50ms' };
    const { sandbox, options, cwd } = await newHome(text, ['--shape', shape, ...sandboxArgs], env);
    return { sandbox, options, report: async () => readCsv(await newestRunFolder(cwd), 'report.csv') };
  }

  test('restores evaluations, and shows what came back and what failed', async () => {
    const { sandbox, options, report } = await scene(restoreCsv(60).text);
    expect(await cqbatch(run, options)).toMatchObject({ code: 1 });
    const [first, ...rest] = await report();
    const evaluation = sandbox.evaluation(1);
    expect(first).toMatchObject({
      _outcome: 'succeeded',
      _scorecard_id: String(evaluation?.['scorecard_id']),
      _call_sid: String(evaluation?.['call_sid']),
      _score: String(evaluation?.['score']),
      _completed_at: evaluation?.['completed_at'],
    });
    // Two in three evaluations are of calls, the others of conversations.
    expect(new Set(rest.map(({ _call_sid }) => _call_sid === ''))).toEqual(new Set([true, false]));
    expect(rest.map(({ _call_sid }) => _call_sid)).not.toContain('0');
    const failed = rest.filter(({ _outcome }) => _outcome !== 'succeeded');
    expect(failed).toMatchObject([
      { _code: 'FAILED_PRECONDITION', _message: expect.stringContaining('is not recoverable') },
    ]);
  });

  test('may drop values of which the plan warns, and which --strict refuses', async () => {
    const { sandbox, options } = await scene('soundboard_id,file_type\n3,mp3\n4,RECORDING_FILE_TYPE_MP3\n');
    const plan = await cqbatch(['plan', 'rows.csv'], options);
    expect(plan.stdout).toContain('1 cell of file_type is not RECORDING_FILE_TYPE_WAV or');
    const partial = [...run, '--allow-partial'];
    const refused = await cqbatch([...partial, '--strict'], options);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('1 row of rows.csv is invalid'),
    });
    expect(await sandbox.log()).toEqual([]);
    const before = sandbox.soundboard(3)?.['file_type'];
    expect(await cqbatch(partial, options)).toMatchObject({ code: 0 });
    expect(sandbox.soundboard(3)).toMatchObject({ file_type: shape === 'document' ? 'mp3' : before });
    expect(sandbox.soundboard(4)).toMatchObject({ file_type: 'RECORDING_FILE_TYPE_MP3' });
  });

  test('at a wrong path halts the run with no row failed, and doctor says so', async () => {
    const { sandbox, options, report } = await scene(restoreCsv(60).text);
    const wrong = ['--base-url', `${sandbox.url}/wrong`];
    const halted = await cqbatch([...run, ...wrong], options);
    expect(halted).toMatchObject({ code: 4, stderr: expect.stringContaining('Correct the base URL') });
    // In the words of an operation, a wrong path looks like a missing entry.
    expect(halted.stderr.includes('unless the API really has none')).toBe(shape === 'document');
    expect((await sandbox.log()).length).toBeLessThanOrEqual(20);
    expect(new Set((await report()).map(({ _outcome }) => _outcome))).toEqual(new Set(['not_attempted']));
    const { stdout } = await cqbatch(['doctor', ...wrong], options);
    expect(stdout).toMatch(/^(warning|failed) +API .*check the base URL/m);
  });

  test.each([
    ['concurrency:limit=2', '429'],
    ['fixed-window:limit=40,window=1s', '429'],
    ['fixed-window:limit=40,window=1s', '503'],
  ])('with the limit %s and status %s fails no row', async (limit, status) => {
    const sandboxArgs = ['--limit', limit, '--limit-status', status, '--latency', '5ms'];
    const { text, rows } = restoreCsv(90);
    const kind = ['--unrecoverable', '0%', '--not-deleted', '0%'];
    const { sandbox, options, report } = await scene(text, ...kind, ...sandboxArgs);
    expect(await cqbatch([...run, '--attempts', '1'], options)).toMatchObject({ code: 0 });
    expectEveryRowOnce(await report(), rows);
    expectAgreement(await report(), await sandbox.log());
  });
});

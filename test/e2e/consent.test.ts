import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch, finished, startAtTerminal } from '../helpers/cqbatch.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { restoreCsv } from './manifests.ts';

async function prepared(name: string, text: string) {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, name), text);
  const sandbox = await startSandbox();
  const env = { ...sandbox.env, ...anyDatastore() };
  const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    cqbatch(args, { cwd, env: { ...env, ...more } });
  return { cwd, sandbox, env, run };
}

describe('what will happen', () => {
  const text = [
    'operation,evaluation_id,user_id,soundboard_id,title,description',
    'restore-evaluation,7,u,,,',
    'restore-evaluation,8,u,,,',
    'update-soundboard,,,41,Greeting,<clear>',
    'update-soundboard,,,42,Music,',
  ].join('\n');

  test('is printed as text and as JSON', async () => {
    const { sandbox, run } = await prepared('rows.csv', text);
    const { stdout } = await run(['plan', 'rows.csv', '--rate', '2/s']);
    const told = stdout.slice(stdout.indexOf('What will happen')).split('\n\n')[0] ?? '';
    expect(told.split('\n')).toEqual([
      `What will happen at ${sandbox.url}:`,
      '  restore-evaluation: 2 calls for 2 evaluations, first 7 (row 1), last 8 (row 2)',
      '  update-soundboard: 2 calls for 2 soundboards, first 41 (row 3), last 42 (row 4)',
      '    sets title',
      '    clears description (1 of 2 rows)',
      '    leaves out file_name, file_type, description (1 of 2 rows), date_created, last_modified, file_size, recording_length',
      expect.stringMatching(/^ {2}about 2 s at 2\/s, until \d\d:\d\d UTC\S*$/),
      '  first run against this address from this state folder',
    ]);
    const document = JSON.parse((await run(['plan', 'rows.csv', '--json'])).stdout);
    expect(document.target).toEqual({ base_url: sandbox.url, is_new: true });
    expect(document.operations['update-soundboard']).toMatchObject({
      subjects: 2,
      first: { row: 3, subject: '41' },
      last: { row: 4, subject: '42' },
      fields: {
        title: { given: 2, cleared: 0, absent: 0 },
        description: { given: 1, cleared: 1, absent: 1 },
        file_name: { given: 0, cleared: 0, absent: 2 },
      },
    });
  });
});

describe('rows that leave fields out', () => {
  const text = 'soundboard_id,title\n41,Greeting\n42,Music\n';
  const asked = { CQBATCH_ALLOW_PARTIAL: '' };

  test('are refused with the risk and a way to check it until --allow-partial; a completed run settles the question', async () => {
    const { sandbox, run } = await prepared('rows.csv', text);
    const planned = await run(['plan', 'rows.csv'], asked);
    expect(planned.code).toBe(2);
    expect(planned.stdout).toContain('Not ready: 2 rows leave fields out.');
    const document = JSON.parse((await run(['plan', 'rows.csv', '--json'], asked)).stdout);
    expect(document).toMatchObject({ ready: false, warnings: [{ code: 'PARTIAL_ROWS' }] });
    const refused = await run(['run', 'rows.csv', '--yes'], asked);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`2 rows leave fields out. ${sandbox.url} may reset fields`);
    expect(refused.stderr).toContain('with --allow-partial --canary 1');
    expect(JSON.parse((await run(['list', '--json'])).stdout)).toEqual({ runs: [] });
    expect(await sandbox.log()).toEqual([]);

    expect((await run(['run', 'rows.csv', '--yes', '--allow-partial'], asked)).code).toBe(0);
    expect(await run(['plan', 'rows.csv'], asked)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Ready: 2 calls.'),
    });
    expect((await run(['run', 'rows.csv', '--yes'], asked)).code).toBe(0);
  });
});

describe('many requests', () => {
  test.each([
    ['y', 2, 0],
    ['1', 2, 0],
    ['3', 1, 3],
    ["3'", 1, 3],
  ])('are sent when their number is typed: %s', async (answer, code, calls) => {
    const { cwd, sandbox, env } = await prepared('rows.csv', `${restoreCsv(2).text}50,u\n`);
    const child = startAtTerminal(['run', 'rows.csv'], { cwd, env: { ...env, CQBATCH_CONFIRM_ABOVE: '2' } });
    child.stdout?.on('data', (chunk: Buffer) => {
      if (chunk.includes('Type 3 to go on')) child.stdin?.write(`${answer}\n`);
    });
    expect((await finished(child)).code).toBe(code);
    expect(await sandbox.log()).toHaveLength(calls);
  });
});

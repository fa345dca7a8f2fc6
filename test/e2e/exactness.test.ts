import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../src/base/text/json.ts';
import { httpServer } from '../engine/api/local-server.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatchProcess } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { sandboxToken, shapes, startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { newHome } from './home.ts';

const bigIds = ['9007199254740993', '9223372036854775807'];

/** Looks for a text in all files of a folder. */
async function expectNowhere(text: string, folder: string): Promise<void> {
  let searched = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    searched += 1;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    const content = entry.name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
    expect(content.toString('latin1').includes(text), entry.name).toBe(false);
  }
  expect(searched).toBeGreaterThan(20);
}

/** What is sent of them: text, because a service in JavaScript would round a number. */
const bigBodies = bigIds.map((id) => `{"evaluation_id":"${id}","user_id":"u"}`).toSorted();

describe.each(shapes)('values of a manifest arrive exactly in %s', (shape) => {
  test.each([
    ['rows.json', `[${bigIds.map((id) => `{"evaluationId":${id},"userId":"u"}`).join(',')}]`],
    ['rows.csv.gz', gzipSync(`Evaluation ID;User ID\r\n${bigIds.map((id) => `${id};u`).join('\r\n')}\r\n`)],
  ])('identifiers beyond 2^53 in %s', async (name, text) => {
    const all = ['--evaluations', '9223372036854775807', '--unrecoverable', '0%', '--not-deleted', '0%'];
    const { cwd, sandbox, options } = await newHome(0, ['--shape', shape, '--numbers', 'rounded', ...all]);
    await writeFile(join(cwd, name), text);
    const { code, stderr } = await cqbatchProcess(['run', name, '--yes'], options);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const log = await sandbox.log();
    expect(log.map(({ body }) => body).toSorted()).toEqual(bigBodies);
    const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
    expect(report.map((row) => row['evaluationId'] ?? row['Evaluation ID'])).toEqual(bigIds);
  });

  test('any text: NUL, lone surrogates, emoji, a megabyte, right-to-left, formulas', async () => {
    const cwd = await temporaryFolder();
    const titles = [
      '\u0000 nul',
      'lone \ud800',
      '\udc00 lone',
      '🎧👩‍👩‍👧',
      'x'.repeat(1_000_000),
      'שלום \u202e',
      '=cmd()',
      '"\'\\\r\n\t',
      ' ',
    ];
    const rows = titles.map((title, index) => ({ soundboard_id: index + 1, title }));
    await writeFile(join(cwd, 'rows.json'), JSON.stringify(rows));
    const sandbox = await startSandbox('--shape', shape);
    const { code, stderr } = await cqbatchProcess(['run', 'rows.json', '--yes'], { cwd, env: sandbox.env });
    expect({ code, stderr: stderr.slice(0, 1_000) }).toMatchObject({ code: 0 });

    const seen = new Map((await sandbox.log()).map(({ id, body }) => [id, body]));
    for (const [index, title] of titles.entries()) {
      const body = parseJson(seen.get(String(index + 1)) ?? '{}') as { soundboard: { title: string } };
      expect(body.soundboard.title).toBe(title);
    }
    const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
    expect(report).toHaveLength(titles.length);
    expect(report[3]?.['title']).toBe(titles[3]);
    expect(report[4]?.['title']).toBe(titles[4]);
    expect(report[6]?.['title']).toBe("'=cmd()");
  });
});

test('the token is in no file, no output at the lowest and the highest log level, and no error', async () => {
  const flags = ['--fault', 'reset=30%,500=30%'];
  const text = 'evaluation_id,user_id\n1,u\n50,u\nunknown,u\n';
  const { cwd, env } = await newHome(text, flags, { CQBATCH_BACKOFF: '1ms' });
  const outputs: string[] = [];
  // What the embedded datastore keeps is searched, too.
  for (const [level, datastore] of [
    ['error', anyDatastore()],
    ['debug', {}],
  ] as const) {
    const { stdout, stderr } = await cqbatchProcess(
      [...['run', 'rows.csv', '--yes', '--skip-invalid', '--log-level', level], '--save-responses'],
      { cwd, env: { ...env, ...datastore } },
    );
    outputs.push(stdout, stderr);
  }
  expect(outputs.join('')).toContain('row finished');
  expect(outputs.join('')).not.toContain(sandboxToken);

  await expectNowhere(sandboxToken, join(cwd, '.cqbatch'));
});

test('the token is masked in answers of the API, including refusals and limits', async () => {
  const cwd = await temporaryFolder();
  const token = 'tok/with+signs==';
  await writeFile(join(cwd, 'rows.csv'), 'evaluation_id,user_id\n1,u\n2,u\n3,u\n');
  const evaluations = {
    '1': `{"evaluation_id":1,"agent_user_id":"Bearer ${token}","scorer_id":"tok\\/with\\u002Bsigns=="}`,
    '2': `{"evaluation_id":2,"deleted_at":"${token}"}`,
  };
  const api = await httpServer((response, { body }) => {
    const { evaluation_id: id } = JSON.parse(body) as { evaluation_id: 1 | 2 | 3 };
    response.setHeader('ratelimit-policy', `"${token}";q=1000;w=1`);
    if (id === 3) response.writeHead(400).end(`{"code":9,"message":"not with ${token}"}`);
    else response.end(`{"evaluation":${evaluations[id]}}`);
  });
  const env = { CQBATCH_BASE_URL: api.url, CQBATCH_TOKEN: token };
  const args = ['run', 'rows.csv', '--yes', '--log-level', 'debug', '--json', '--save-responses'];
  const { code, stdout, stderr } = await cqbatchProcess(args, { cwd, env });
  expect({ code, stderr }).toMatchObject({ code: 1 });
  expect(stdout + stderr).not.toContain(token);
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
  expect(report).toMatchObject([
    { _agent_user_id: 'Bearer [token]', _scorer_id: '[token]' },
    { _code: 'ANSWER_STILL_DELETED', _unclear: 'yes', _message: expect.stringContaining('[token]') },
    { _message: 'not with [token]' },
  ]);
  const folder = await newestRunFolder(cwd);
  const responses = gunzipSync(await readFile(join(folder, 'responses-1.jsonl.gz'))).toString();
  expect(responses.match(/\[token\]/g)?.length).toBeGreaterThanOrEqual(7);
  expect(responses).not.toContain('u002B');
  await expectNowhere(token, join(cwd, '.cqbatch'));
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deadUrl } from '../engine/api/local-server.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch, finished, saying, startCqbatch } from '../helpers/cqbatch.ts';
import { type Mood, startMoodyApi } from '../helpers/moody-api.ts';
import { type Cells, newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { expectEveryRowOnce } from './agreement.ts';
import { restoreCsv } from './manifests.ts';

async function prepared(rows: number, baseUrl: string) {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(rows).text);
  return { cwd, env: { CQBATCH_BASE_URL: baseUrl, CQBATCH_TOKEN: 'token', ...anyDatastore() } };
}

async function report(cwd: string): Promise<readonly Cells[]> {
  return readCsv(await newestRunFolder(cwd), 'report.csv');
}

const run = ['run', 'rows.csv', '--yes'];
const page: Mood = { status: 200, type: 'text/html', body: '<!doctype html><title>Sign in</title>' };
/** The words of a router, which a service may use as well. */
const nothingThere: Mood = { status: 404, type: 'application/json', body: '{"message":"Not Found"}' };
const otherService: Mood = { status: 200, type: 'application/json', body: '{"hello":"world"}' };
const broken: Mood = { status: 502, type: 'text/html', body: '<title>Bad gateway</title>' };

describe('a target that has never answered', () => {
  test.each<[string, () => Promise<string>, string]>([
    ['whose port is refused', deadUrl, 'refuses connections (20 tries). Check host and port of the base URL'],
    [
      'that speaks no TLS',
      async () => (await startMoodyApi()).url.replace('http', 'https'),
      'No trusted TLS connection',
    ],
  ])('%s halts the run, with no row failed', async (_title, url, remedy) => {
    const baseUrl = await url();
    const { cwd, env } = await prepared(60, baseUrl);
    const { code, stderr } = await cqbatch(run, { cwd, env });
    expect(code).toBe(4);
    expect(stderr).toContain(baseUrl);
    expect(stderr).toContain(remedy);
    expect(stderr).toMatch(/^Gave up: /m);
    expect((await cqbatch(['list'], { cwd, env })).stdout).toContain('gave up');
    expect(await readFile(join(await newestRunFolder(cwd), 'report.html'), 'utf8')).toContain('Run gave up');
    expect((await report(cwd)).map((row) => row['_outcome'])).toEqual(Array(60).fill('not_attempted'));
    // It can be replaced.
    const api = await startMoodyApi();
    expect((await cqbatch(['resume', '--base-url', api.url], { cwd, env })).code).toBe(0);
    expect(api.calls).toHaveLength(60);
  });

  test.each<[string, Mood, number, string, 'clear' | 'unclear']>([
    ['is a login page', page, 60, 'HTTP 200, ANSWER_NOT_JSON', 'unclear'],
    ['has nothing at its path, for a short manifest', nothingThere, 3, 'HTTP 404, NOT_FOUND', 'clear'],
    ['is another service', otherService, 60, 'HTTP 200, ANSWER_INCOMPLETE', 'unclear'],
    ['is broken', broken, 60, 'HTTP 502, BAD_GATEWAY', 'unclear'],
  ])(
    '%s: 20 calls at most, and what may have been processed is unclear',
    async (_title, mood, rows, came, left) => {
      const api = await startMoodyApi();
      api.mood = mood;
      const { cwd, env } = await prepared(rows, api.url);
      const { code, stderr, stdout } = await cqbatch(run, { cwd, env });
      expect(code).toBe(4);
      expect(stderr).toContain(came);
      expect(stderr).toMatch(/[Cc]orrect the base URL|The API has a problem/);
      expect(api.calls.length).toBeLessThanOrEqual(left === 'unclear' ? 5 : 20);
      // A row that may have been processed is shown first, and not called again as if nothing had happened.
      expect(stderr + stdout).toContain(left === 'unclear' ? 'cqbatch show ' : 'cqbatch resume ');
      expect(new Set(api.calls).size).toBe(api.calls.length);
      // What was called may have been processed if what came back leaves that open; nothing else has happened to any row.
      for (const row of await report(cwd)) {
        const isUnclear = left === 'unclear' && api.calls.includes(Number(row['evaluation_id']));
        const { _outcome, _code, _unclear } = row;
        expect({ _outcome, _code, _unclear }).toEqual({
          _outcome: isUnclear ? 'failed' : 'not_attempted',
          _code: 'HALTED',
          _unclear: isUnclear ? 'yes' : '',
        });
      }
    },
  );

  test('is the only API that gets the token of its run: a variable with another URL is refused', async () => {
    const api = await startMoodyApi();
    const other = await startMoodyApi();
    const { cwd, env } = await prepared(3, api.url);
    const named = [...run, '--run-id', 'x'];
    expect((await cqbatch([...named, '--max-rows', '1'], { cwd, env })).code).toBe(6);
    const elsewhere = { cwd, env: { ...env, CQBATCH_BASE_URL: other.url } };
    for (const command of [['resume'], [...named, '--or-resume']])
      expect(await cqbatch(command, elsewhere)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/was started on \S+, but CQBATCH_BASE_URL is set to \S+: an access/),
      });
    expect(other.calls).toEqual([]);
  });
});

describe('an outage in the middle of a run', () => {
  const rows = 300;
  /** Every failure would be the row's last: none may cost it that. */
  const careful = [...run, '--rate', '100/s', '--attempts', '1'];

  test.each<[string, Mood | 'gone', timeout: string]>([
    ['of a server that is gone', 'gone', '60s'],
    // Only a server that hangs takes as long.
    ['of a server that does not answer', 'silent', '12s'],
  ])('%s costs no row an attempt', async (_title, trouble, timeout) => {
    const api = await startMoodyApi();
    const { cwd, env } = await prepared(rows, api.url);
    const child = startCqbatch([...careful, '--timeout', timeout], { cwd, env });
    const end = finished(child);
    await api.reached(100);
    if (trouble === 'gone') await api.vanish();
    else api.mood = trouble;
    // Shown between tests of the outage, not while a few failures are still in doubt.
    await saying(child, 'Tries again in ');
    if (trouble === 'gone') await api.comeBack();
    else api.mood = 'well';
    const { code, stderr } = await end;
    expect(stderr).not.toContain('halted');
    expect(code).toBe(0);
    const found = await report(cwd);
    expectEveryRowOnce(found, rows);
    for (const row of found) {
      const seen = api.calls.filter((id) => id === Number(row['evaluation_id'])).length;
      const attempts = Number(row['_attempts']);
      // A connection that is cut may hold a request that the API has never read.
      const unread = trouble === 'gone' && attempts === seen + 1 && row['_unclear'] === 'yes';
      expect([row['_row'], attempts]).toEqual([row['_row'], unread ? seen + 1 : seen]);
      if (seen > 1) expect([row['_row'], row['_unclear']]).toEqual([row['_row'], 'yes']);
    }
  });
});

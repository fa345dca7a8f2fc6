import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deadUrl, listen } from '../engine/api/local-server.ts';
import { selfSigned } from '../engine/api/self-signed.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch } from '../helpers/cqbatch.ts';
import { startProxy } from '../helpers/proxy.ts';
import { newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { textsBelow } from './redis/machine.ts';

const token = 'a-secret-token';
const run = ['run', 'rows.csv', '--yes'];

/** An API that speaks TLS, of an authority that only `env` trusts, and a manifest of three rows. */
async function prepared() {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), 'evaluation_id,user_id\n1,u\n2,u\n3,u\n');
  await writeFile(join(cwd, 'authority.pem'), selfSigned.cert);
  const tokens: (string | undefined)[] = [];
  const server = createServer(selfSigned, (request, response) => {
    tokens.push(request.headers.authorization);
    request.on('data', (body) => {
      response.end(`{"evaluation":{"evaluation_id":${JSON.parse(String(body)).evaluation_id}}}`);
    });
  });
  const url = (await listen(server)).replace('http:', 'https:');
  const env = {
    CQBATCH_BASE_URL: url,
    CQBATCH_TOKEN: token,
    NODE_EXTRA_CA_CERTS: join(cwd, 'authority.pem'),
    ...anyDatastore(),
  };
  return { cwd, url, env, tokens };
}

describe('a run through a proxy', () => {
  test('reaches an API by TLS, names the proxy, and reveals neither token nor password', async () => {
    const { cwd, url, env, tokens } = await prepared();
    const proxy = await startProxy({ user: 'user', password: 'a-password' });
    const variables = { HTTPS_PROXY: proxy.url.replace('//', '//user:a-password@') };
    const named = `through the proxy ${proxy.url} (HTTPS_PROXY)`;

    const plan = await cqbatch(['plan', 'rows.csv', '--json'], { cwd, env: { ...env, ...variables } });
    expect(JSON.parse(plan.stdout)).toMatchObject({ proxy: `${proxy.url} (HTTPS_PROXY)` });
    expect(proxy.seen).toEqual([]);

    const done = await cqbatch([...run, '--log-level', 'debug'], { cwd, env: { ...env, ...variables } });
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('3 succeeded') });
    expect(done.stderr).toContain(`  ${named}\n`);
    expect(done.stderr).toContain(`on ${url} ${named}\n`);
    expect(tokens).toEqual(Array(3).fill(`Bearer ${token}`));
    expect(proxy.seen.length).toBeGreaterThan(0);
    for (const { method, target, headers } of proxy.seen) {
      expect({ method, target }).toEqual({ method: 'CONNECT', target: new URL(url).host });
      expect(Object.keys(headers).toSorted()).toEqual([
        'connection',
        'host',
        'proxy-authorization',
        'proxy-connection',
      ]);
    }

    const written = await textsBelow(join(cwd, '.cqbatch'));
    for (const text of [written, plan.stdout, done.stdout, done.stderr])
      expect(text.includes('a-password') || text.includes(token)).toBe(false);
  });

  test('that fails ends at once with the reason, and calls no row', async () => {
    const proxies: readonly (readonly [url: string, ...said: string[]])[] = [
      [await deadUrl(), 'No connection to the proxy', 'ECONNREFUSED', 'Correct the proxy'],
      [(await startProxy({ refuse: 403 })).url, '(403)', 'Ask the administrator of the proxy'],
    ];
    await Promise.all(
      proxies.map(async ([proxy, ...said]) => {
        const { cwd, env, tokens } = await prepared();
        const { code, stderr } = await cqbatch(run, { cwd, env: { ...env, HTTPS_PROXY: proxy } });
        expect({ code, stderr }).toMatchObject({ code: 4 });
        for (const words of [...said, `${proxy} (HTTPS_PROXY)`]) expect(stderr).toContain(words);
        expect(tokens).toEqual([]);
        const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
        expect(report.map((row) => row['_outcome'])).toEqual(Array(3).fill('not_attempted'));
      }),
    );
  });
});

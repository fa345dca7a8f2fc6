import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { deadUrl, httpServer } from '../engine/api/local-server.ts';
import { newHome } from './home.ts';
import { textsBelow } from './redis/machine.ts';

interface Post {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

async function prepared(text: string) {
  const { cwd, runWith } = await newHome(text);
  const posts: Post[] = [];
  const { url } = await httpServer((response, { path = '', body, headers }) => {
    posts.push({ url: path, body, headers });
    response.end('ok');
  });
  const told = { CQBATCH_NOTIFY_URL: `${url}/hook/s3cret-path` };
  const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    runWith({ ...told, ...more }, 'run', 'rows.csv', '--yes', ...args);
  const news = () => posts.filter(({ url: path }) => path.startsWith('/hook'));
  return { cwd, url, posts, news, run, runWith };
}

const good = 'soundboard_id,title\n1,Hello\n';
const failing = 'evaluation_id,user_id\n1,u\n50,u\n';

test('a run with failures is reported, a run without failures only with the setting "always"', async () => {
  const { news, run } = await prepared(failing);
  expect((await run(['--run-id', 'night'])).code).toBe(1);
  const [told] = news();
  const { text, ...document } = JSON.parse(told?.body ?? '');
  expect(told?.url).toBe('/hook/s3cret-path');
  expect(text).toMatch(
    /^cqbatch on .+: run night of rows\.csv completed after \d+ s: 2 rows, 1 succeeded, 1 failed/,
  );
  expect(document).toMatchObject({
    exit_code: 1,
    run: { id: 'night', outcomes: { failed: 1 } },
    error: null,
  });

  const fine = await prepared(good);
  expect((await fine.run([])).code).toBe(0);
  expect(fine.news()).toEqual([]);
  expect((await fine.run([], { CQBATCH_NOTIFY_ON: 'always' })).code).toBe(0);
  expect(fine.news()).toHaveLength(1);
});

test('a manifest that is refused is told with its name, its rows and the reason', async () => {
  const { news, run } = await prepared('evaluation_id,user_id\n1,\n');
  expect((await run([])).code).toBe(2);
  expect(JSON.parse(news()[0]?.body ?? '')).toMatchObject({
    text: expect.stringMatching(/no run was created: rows\.csv:2: row 1, user_id: is empty in this row;/),
    exit_code: 2,
    run: null,
    error: { code: 'MANIFEST_REFUSED', message: expect.stringContaining('Nothing was sent.') },
  });
});

test('watch --once pings what became of all manifests, and notifies of each', async () => {
  const { cwd, url, posts, news, runWith } = await prepared(failing);
  await mkdir(join(cwd, 'in'));
  await writeFile(join(cwd, 'in/rows.csv'), failing);
  await writeFile(join(cwd, 'in/none.csv'), 'evaluation_id,user_id\n50,u\n');
  await writeFile(join(cwd, 'in/refused.csv'), 'evaluation_id,user_id\n1,\n');
  const environment = { CQBATCH_NOTIFY_URL: `${url}/hook`, CQBATCH_PING_URL: `${url}/ping` };
  const watching = await runWith(environment, 'watch', 'in', '--once', '--yes', '--settle', '10ms');
  expect(watching.code).toBe(2);
  const texts = news().map(({ body }) => JSON.parse(body).text.replace(/^cqbatch on .+?: /, ''));
  expect(texts.sort()).toEqual([
    expect.stringMatching(/^no run was created: in\/refused\.csv:2: row 1, user_id: is empty in this row;/),
    expect.stringMatching(/^run none-\w+ of in\/none\.csv completed /),
    expect.stringMatching(/^run rows-\w+ of in\/rows\.csv completed /),
  ]);
  const suffixes = (await readdir(join(cwd, 'in/failed'))).map((name) => name.replace(/\.\w{8}\.csv/, ''));
  // As the table of docs/scheduling.md says.
  expect(suffixes.sort()).toEqual([
    ...['none', 'none.error.txt', 'none.failed.csv'],
    ...['refused', 'refused.error.txt', 'refused.problems.txt'],
  ]);
  const pings = posts.filter(({ url: path }) => path.startsWith('/ping'));
  expect(pings.map(({ url: path }) => path)).toEqual(['/ping/start', '/ping/2']);
  expect(pings[1]?.body).toMatch(/^cqbatch on .+: 3 manifests: 1 partial, 2 failed\.$/);
});

test('--or-resume that finds a finished run pings what the run ended with', async () => {
  const { url, posts, run, news } = await prepared(failing);
  const args = ['--run-id', 'night', '--or-resume', '--ping-url', `${url}/ping/uuid`];
  expect((await run(args)).code).toBe(1);
  expect((await run(args)).code).toBe(0);
  const pings = posts.filter(({ url: path }) => path.startsWith('/ping'));
  expect(pings.map((post) => post.url.slice('/ping/uuid/'.length))).toEqual(['start', '1', 'start', '1']);
  expect(pings.at(-1)?.body).toMatch(
    /run night of rows\.csv had already ended \(completed\), so nothing was sent: 2 rows, 1 succeeded, 1 failed/,
  );
  // The command has done nothing, so there is no news.
  expect(news()).toHaveLength(1);
});

test('a signature is verified by the script of the documentation', async () => {
  const { news, run } = await prepared(failing);
  await run([], { CQBATCH_NOTIFY_SECRET: 'k3y' });
  const page = await readFile(new URL('../../docs/scheduling.md', import.meta.url), 'utf8');
  const [, script = ''] = /```js\n(import \{ createHmac[\s\S]*?)```/.exec(page) ?? [];
  const [{ body = '', headers = {} } = {}] = news();
  const verify = async (text: string, secret: string) => {
    const code = `${script}\nprocess.stdout.write(String(isGenuine(process.env.SECRET, JSON.parse(process.env.HEADERS), process.env.BODY)));`;
    const env = { SECRET: secret, HEADERS: JSON.stringify(headers), BODY: text };
    return (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { env })).stdout;
  };
  expect(await verify(body, 'k3y')).toBe('true');
  expect(await verify(`${body} `, 'k3y')).toBe('false');
  expect(await verify(body, 'other')).toBe('false');
});

test('an unreachable receiver changes nothing in the run, and is reported without its path', async () => {
  const { run } = await prepared(failing);
  const { code, stderr } = await run([], { CQBATCH_NOTIFY_URL: `${await deadUrl()}/s3cret-path` });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /warning: --notify-url on 127\.0\.0\.1:\d+ was not notified: The server refuses connections/,
  );
  expect(stderr).not.toContain('s3cret');
});

test('no file of a run has the URL or the secret', async () => {
  const { cwd, run } = await prepared(failing);
  const { stderr } = await run(['--log-level', 'debug'], { CQBATCH_NOTIFY_SECRET: 'k3y-k3y' });
  const written = await textsBelow(join(cwd, '.cqbatch'));
  for (const text of [written, stderr]) expect(text).not.toMatch(/s3cret-path|k3y-k3y/);
});

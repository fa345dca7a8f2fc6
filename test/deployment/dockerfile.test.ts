import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';

const read = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

const lines = (await read('Dockerfile')).replaceAll('\\\n', ' ').split('\n');
/** The instructions of the Dockerfile, and those of its last stage. */
const all = lines
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .map((line) => {
    const [, keyword = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    return { keyword, rest: rest.replace(/\s+/g, ' ').trim() };
  });
const last = all.slice(all.findLastIndex(({ keyword }) => keyword === 'FROM'));

describe('the image', () => {
  test('ends in a stage that is not root, stops on SIGTERM, and starts the program', async () => {
    expect(last.filter(({ keyword }) => keyword === 'USER').map(({ rest }) => rest)).toEqual(['node']);
    expect(last).toContainEqual({ keyword: 'STOPSIGNAL', rest: 'SIGTERM' });
    expect(last).toContainEqual({ keyword: 'ENTRYPOINT', rest: '["node", "/app/dist/bin/cqbatch.js"]' });
    expect(JSON.parse(await read('package.json')).bin.cqbatch).toBe('dist/bin/cqbatch.js');
  });

  test('keeps the build and nothing else', () => {
    expect(last.filter(({ keyword }) => /^(COPY|ADD)$/.test(keyword)).map(({ rest }) => rest)).toEqual([
      '--from=build /app/package.json ./',
      '--from=build /app/dist ./dist',
    ]);
  });

  test('pins its base image', () => {
    const pinned = expect.stringMatching(/^NODE_IMAGE=node:\d+\.\d+\S*-slim$/);
    expect(all[0]).toEqual({ keyword: 'ARG', rest: pinned });
    for (const { keyword, rest } of all) {
      if (keyword === 'FROM') expect(rest).toMatch(/^\$\{NODE_IMAGE\}( AS \w+)?$/);
    }
  });

  test('has the Node version on which .ci/run tests the program', async () => {
    const [, tried] = /^ *\.ci\/on-node (\d+\.\d+)\.\d+$/m.exec(await read('.ci/run')) ?? [];
    expect(all[0]?.rest).toContain(`node:${tried}-`);
    expect(await read('.nvmrc')).toMatch(`${tried}.`);
  });

  test('contains no secret', () => {
    for (const { keyword, rest } of all) {
      if (/^(ARG|ENV|RUN|COPY)$/.test(keyword)) expect(rest).not.toMatch(/token|passw|secret|\.env\b/i);
    }
  });

  test('gets only the files that it copies', async () => {
    const copied = all
      .filter(({ keyword, rest }) => keyword === 'COPY' && !rest.startsWith('--from='))
      .flatMap(({ rest }) => rest.split(' ').slice(0, -1));
    const [first, ...allowed] = (await read('.dockerignore'))
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(first).toBe('*');
    expect(new Set(allowed)).toEqual(new Set(copied.map((path) => `!${path}`)));
  });
});

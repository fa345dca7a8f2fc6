// @ts-check
/** What people use for such a job, as they would write it. Each makes at most ten calls at a time, except where it finds that by itself. */
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { deferred } from '../../../dist/src/base/async/waiting.js';
import { shellWord } from '../../../dist/src/base/text/command-words.js';
import { cqbatch, plainEnvironment } from '../measure/child.js';
import { redisProgram, withRedis } from '../measure/redis.js';

/** @typedef {{ folder: string, url: string, rows: number }} Job */

/**
 * @typedef {object} Prepared
 * @property {import('./processes.js').Command} command for the first and each later start
 * @property {() => Promise<ReadonlySet<string>>} [marked] the identifiers that it names as possibly done twice
 * @property {() => Promise<void>} [close]
 */

/**
 * @typedef {object} Contestant
 * @property {string} title
 * @property {() => boolean} isThere whether this machine has its program
 * @property {(job: Job) => Promise<Prepared>} prepare
 */

const path = '/api/v1alpha1/org/soundboard/update';
const curl = (/** @type {string} */ url) =>
  `curl --silent --show-error --fail --retry 8 --retry-connrefused --output /dev/null ` +
  `--header 'content-type: application/json' --header "authorization: Bearer $CQBATCH_TOKEN" ` +
  `--data '{"soundboard":{"soundboard_id":{},"title":"Title {}"}}' ${url}${path}`;
const program = (/** @type {string} */ name) => fileURLToPath(new URL(`${name}.js`, import.meta.url));

/** @type {Readonly<Record<string, Contestant>>} */
export const contestants = {
  ours: {
    title: 'cqbatch run',
    isThere: () => true,
    async prepare({ folder, url, rows }) {
      const records = ids(rows).map((id) => `${id},Title ${id}\n`);
      await writeFile(join(folder, 'rows.csv'), ['soundboard_id,title\n', ...records].join(''));
      const options = ['--operation', 'update-soundboard', '--base-url', url, '--allow-partial'];
      const again = ['--run-id', 'job', '--or-resume', '--yes', '--quiet'];
      return {
        command: [process.execPath, cqbatch, 'run', 'rows.csv', ...options, ...again],
        async marked() {
          const report = await readFile(join(folder, '.cqbatch', 'runs', 'job', 'report.csv'));
          /** @type {readonly Readonly<Record<string, string>>[]} */
          const records = parse(report, { columns: true, bom: true });
          const unclear = records.filter(({ _unclear }) => _unclear === 'yes');
          return new Set(unclear.map(({ soundboard_id: id = '' }) => id));
        },
      };
    },
  },
  xargs: {
    title: 'xargs -P 10, curl --retry',
    isThere: () => has('xargs') && has('curl'),
    prepare: ({ folder, url, rows }) =>
      shell(folder, rows, `xargs -P 10 -I{} sh -c ${shellWord(curl(url))} < ids`),
  },
  parallel: {
    title: 'GNU parallel, curl --retry, --resume',
    isThere: () => has('parallel') && has('curl'),
    prepare: ({ folder, url, rows }) =>
      shell(
        folder,
        rows,
        `parallel --will-cite -j 10 --joblog log --resume ${shellWord(curl(url))} :::: ids`,
      ),
  },
  loop: {
    title: 'p-limit(10), p-retry',
    isThere: () => true,
    prepare: async ({ url, rows }) => ({
      command: [process.execPath, program('loop'), `${url}${path}`, String(rows)],
    }),
  },
  newman: {
    title: 'newman',
    isThere: () => has('newman'),
    async prepare({ folder, url, rows }) {
      const request = {
        method: 'POST',
        url: `${url}${path}`,
        header: [
          { key: 'content-type', value: 'application/json' },
          { key: 'authorization', value: 'Bearer sandbox-token' },
        ],
        body: { mode: 'raw', raw: '{"soundboard":{"soundboard_id":{{id}},"title":"Title {{id}}"}}' },
      };
      const info = {
        name: 'job',
        schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
      };
      await writeFile(
        join(folder, 'job.json'),
        JSON.stringify({ info, item: [{ name: 'update', request }] }),
      );
      await writeFile(join(folder, 'ids.csv'), ['id\n', ...ids(rows).map((id) => `${id}\n`)].join(''));
      return { command: ['newman', 'run', 'job.json', '--iteration-data', 'ids.csv', '--reporters', 'json'] };
    },
  },
  bullmq: {
    title: 'BullMQ, limiter of 30/s, 10 attempts',
    isThere: () => redisProgram() !== undefined,
    async prepare({ folder, url, rows }) {
      const closed = deferred();
      /** @type {Promise<string>} */
      const address = new Promise((resolve, reject) => {
        withRedis(folder, async ({ url }) => {
          resolve(url);
          await closed.promise;
        }).catch(reject);
      });
      const command = /** @type {const} */ ([
        process.execPath,
        program('bullmq-limiter'),
        `${url}${path}`,
        String(rows),
        await address,
      ]);
      return { command, close: async () => closed.resolve() };
    },
  },
};

function ids(/** @type {number} */ rows) {
  return Array.from({ length: rows }, (_, index) => index + 1);
}

/** @returns {Promise<Prepared>} */
async function shell(/** @type {string} */ folder, /** @type {number} */ rows, /** @type {string} */ line) {
  await writeFile(join(folder, 'ids'), `${ids(rows).join('\n')}\n`);
  return { command: ['sh', '-c', line] };
}

function has(/** @type {string} */ name) {
  return spawnSync(name, ['--version'], { env: plainEnvironment(), stdio: 'ignore' }).error === undefined;
}

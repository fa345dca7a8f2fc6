import { defineConfig } from 'rolldown';
import { shipped } from './shipped.js';

/**
 * Bundles the command and the library, because reading their 900 files takes a second of CPU time at each start.
 */
export default defineConfig({
  input: {
    cqbatch: 'dist/src/cli/main.js',
    index: 'dist/src/index.js',
    thread: 'dist/src/engine/datastore/embedded/thread.js',
  },
  platform: 'node',
  // Loading our modules has no effect, so a command loads only what it uses.
  treeshake: {
    moduleSideEffects: [
      { test: /[/\\]dist[/\\](?:src|jobs)[/\\]|[/\\]node_modules[/\\]bullmq[/\\]/, sideEffects: false },
    ],
  },
  // Only of ES modules, as BullMQ's, unused parts can be left out.
  resolve: { mainFields: ['module', 'main'] },
  plugins: [commanderAlone(), cryptoAtFirstUse(), ...undiciInParts(), ...bullmqInParts(), ...shipped()],
  // A module goes into the file that needs it first, whether by a static or a dynamic import.
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: 'dist/bin',
    cleanDir: true,
    codeSplitting: { groups: parts() },
    // Node would read comments at each start.
    comments: { annotation: false, jsdoc: false },
  },
});

/**
 * Modules that are loaded together are one file: a file takes half a millisecond, and a command would load fifty. A part also has what its
 * modules import, except what an earlier part has.
 */
function parts() {
  const modules = {
    // The thread of the datastore needs only this part.
    files: 'src/(?:base/(?:disk/files|package|async/waiting)|engine/datastore/embedded/final-error)',
    // `help` is for `cqbatch --help`; `command` is what each command needs in addition.
    help: 'src/cli/command-line',
    command: 'src/(?:cli/context|engine/datastore/embedded/connection)',
    look: 'src/cli/commands/(?:status|list)',
    plan: 'src/cli/commands/run/(?:plan|run)',
    run: 'src/cli/commands/run/execute',
    session: 'src/engine/run/work/execute-run',
    client: 'src/engine/api/client',
    embedded: 'src/engine/datastore/embedded/embedded',
  };
  return Object.entries(modules).map(([name, path], index, { length }) => ({
    name,
    test: new RegExp(`/dist/${path}\\.js$`.replaceAll('/', '[/\\\\]')),
    priority: length - index,
  }));
}

/** Commander runs subcommands that are programs of their own. We have none, and Node's module takes 2 ms of each start. */
function commanderAlone() {
  return virtual('node:child_process', 'export default undefined;', /[/\\]commander[/\\]/);
}

/** Commands that only look at runs use no cryptography, and Node's module takes 3 ms of each start. */
function cryptoAtFirstUse() {
  const names = [
    ...['createHash', 'createHmac', 'hash', 'timingSafeEqual'],
    ...['randomBytes', 'randomInt', 'randomUUID'],
  ];
  const code = `
    let module;
    const crypto = () => (module ??= process.getBuiltinModule('node:crypto'));
    ${names.map((name) => `export const ${name} = (...args) => crypto().${name}(...args);`).join('\n')}
  `;
  return virtual('node:crypto', code, /[/\\]dist[/\\](?:src|jobs)[/\\]/);
}

/** Its index also loads fetch, WebSocket, mocks and caches, which takes twice as long. The client makes no HTTP/2 (`allowH2: false`). */
function undiciInParts() {
  const folder = 'undici/lib/dispatcher';
  return [
    virtual(
      'undici',
      `
      import Dispatcher from '${folder}/dispatcher.js';
      import EnvHttpProxyAgent from '${folder}/env-http-proxy-agent.js';
      import Pool from '${folder}/pool.js';
      import api from 'undici/lib/api/index.js';
      Object.assign(Dispatcher.prototype, api); // as the index does
      export { Dispatcher, EnvHttpProxyAgent, Pool };
    `,
    ),
    virtual('./client-h2.js', 'export default undefined;', /[/\\]undici[/\\]/),
  ];
}

/**
 * Leaves out repeated jobs, which need much code. Only Redis as the datastore loads the code for Redis. BullMQ only packs: without its index,
 * msgpackr looks for no native code, which exists only on some platforms and takes 10 ms of a start.
 */
function bullmqInParts() {
  const from = /[/\\]bullmq[/\\]dist[/\\]esm[/\\]/;
  return [
    virtual('../utils/create-backend', 'export const getDefaultBackendFactory = undefined;', from),
    virtual(
      './redis-queue-backend',
      'export class RedisQueueBackend {}',
      /[/\\]bullmq[/\\]dist[/\\]esm[/\\]classes[/\\]queue-getters.js$/,
    ),
    virtual('msgpackr', `export { Packr } from 'msgpackr/pack';`, from),
    virtual('cron-parser', 'export const CronExpressionParser = undefined;', from),
    virtual(
      'semver',
      `
      import coerce from 'semver/functions/coerce.js';
      import lt from 'semver/functions/lt.js';
      import valid from 'semver/functions/valid.js';
      export { coerce, lt, valid };
    `,
      from,
    ),
  ];
}

/** A module without a file. @param from matches the modules that import it */
function virtual(name, code, from = /^/) {
  const id = `\0${name}`;
  return {
    name,
    resolveId: (source, importer = '') => (source === name && from.test(importer) ? id : undefined),
    load: (loaded) => (loaded === id ? code : undefined),
  };
}

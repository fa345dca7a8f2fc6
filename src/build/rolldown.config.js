import { defineConfig } from 'rolldown';
import { shipped } from './shipped.js';

/**
 * Makes few files of the command, of the library and of all that they need: reading the 900 of which they are made takes a
 * second of CPU time at each start. Node's compile cache is off: on Node 24 it saves nothing.
 */
export default defineConfig({
  input: {
    cqbatch: 'dist/src/cli/main.js',
    index: 'dist/src/index.js',
    thread: 'dist/src/engine/datastore/embedded/thread.js',
  },
  platform: 'node',
  // It is not there on every platform.
  external: ['msgpackr-extract'],
  // A module of ours does nothing when it is loaded: a command loads those that it uses, not all that the library exports.
  treeshake: {
    moduleSideEffects: [
      { test: /[/\\]dist[/\\](?:src|jobs)[/\\]|[/\\]node_modules[/\\]bullmq[/\\]/, sideEffects: false },
    ],
  },
  // What has ES modules, too, is taken in parts, as BullMQ.
  resolve: { mainFields: ['module', 'main'] },
  plugins: [undiciInParts(), ...bullmqInParts(), ...shipped()],
  // The groups below put what a module imports now and later into the file where it is needed first.
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: 'dist/bin',
    cleanDir: true,
    codeSplitting: { groups: parts() },
    // Node reads them at each start; the source has them.
    comments: { annotation: false, jsdoc: false },
  },
});

/**
 * What is loaded together is one file: each takes half a millisecond, and a command would load fifty. A part has what its modules
 * import, but for what those before it have.
 */
function parts() {
  const modules = {
    // Of the thread of the datastore, too, which needs no more of us.
    files: 'src/base/(?:disk/files|package|async/waiting)',
    // What `cqbatch --help` needs, and what each command needs besides.
    help: 'src/cli/command-line',
    command: 'src/(?:cli/context|engine/datastore/embedded/connection)',
    look: 'src/cli/commands/(?:status|list)',
    plan: 'src/cli/commands/run/(?:plan|run)',
    run: 'src/cli/commands/run/execute',
    session: 'src/engine/run/session/execute-run',
    client: 'src/engine/api/client',
    embedded: 'src/engine/datastore/embedded/embedded',
  };
  return Object.entries(modules).map(([name, path], index, { length }) => ({
    name,
    test: new RegExp(`/dist/${path}\\.js$`.replaceAll('/', '[/\\\\]')),
    priority: length - index,
  }));
}

/** The parts of undici that are used: its index also loads fetch, WebSocket, mocks and caches, which takes twice as long. */
function undiciInParts() {
  const folder = 'undici/lib/dispatcher';
  return virtual(
    'undici',
    `
    import Dispatcher from '${folder}/dispatcher.js';
    import EnvHttpProxyAgent from '${folder}/env-http-proxy-agent.js';
    import Pool from '${folder}/pool.js';
    import api from 'undici/lib/api/index.js';
    Object.assign(Dispatcher.prototype, api); // as the index does
    export { Dispatcher, EnvHttpProxyAgent, Pool };
  `,
  );
}

/**
 * BullMQ without unused parts: the code for Redis is loaded only where Redis is the datastore, and repeated jobs, which need
 * much code, are left out.
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

/** A module that is code and no file. @param from which modules import it */
function virtual(name, code, from = /^/) {
  const id = `\0${name}`;
  return {
    name,
    resolveId: (source, importer = '') => (source === name && from.test(importer) ? id : undefined),
    load: (loaded) => (loaded === id ? code : undefined),
  };
}

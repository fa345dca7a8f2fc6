import { resolve } from 'node:path';
import { defineConfig } from 'rolldown';

const library = 'library';

/**
 * Makes few files of the command, of the library and of all that they need: reading the 900 of which they are made takes a
 * second of CPU time at each start.
 */
export default defineConfig({
  input: {
    cqbatch: 'dist/src/cli/main.js',
    index: library,
    thread: 'dist/src/datastore/embedded/thread.js',
  },
  platform: 'node',
  // PGlite reads its database from beside its code; the other is not there on every platform.
  external: [/^@electric-sql\/pglite/, 'msgpackr-extract'],
  // A module of ours does nothing when it is loaded: a command loads those that it uses, not all that the library exports.
  treeshake: { moduleSideEffects: [{ test: /\/dist\/(?:src|jobs)\//, sideEffects: false }] },
  plugins: [
    // Beside the module from which commands import: what an entry exports stays together in one file.
    virtual(library, `export * from ${JSON.stringify(resolve('dist/src/index.js'))};`),
    undiciInParts(),
  ],
  output: { dir: 'dist/bin', cleanDir: true },
});

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

/** A module that is code and no file. */
function virtual(name, code) {
  const id = `\0${name}`;
  return {
    name,
    resolveId: (source) => (source === name ? id : undefined),
    load: (loaded) => (loaded === id ? code : undefined),
  };
}

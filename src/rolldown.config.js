import { defineConfig } from 'rolldown';

/**
 * Makes few files of the command, of the library and of all that they need: reading the 900 of which they are made takes a
 * second of CPU time at each start.
 */
export default defineConfig({
  input: {
    cqbatch: 'dist/src/cli/main.js',
    index: 'dist/src/index.js',
    thread: 'dist/src/datastore/embedded/thread.js',
  },
  platform: 'node',
  // PGlite reads its database from beside its code; the other is not there on every platform.
  external: [/^@electric-sql\/pglite/, 'msgpackr-extract'],
  plugins: [undiciInParts()],
  output: { dir: 'dist/bin', cleanDir: true },
});

/** The parts of undici that are used: its index also loads fetch, WebSocket, mocks and caches, which takes twice as long. */
function undiciInParts() {
  const id = '\0undici-in-parts';
  const folder = 'undici/lib/dispatcher';
  const code = `
    import Dispatcher from '${folder}/dispatcher.js';
    import EnvHttpProxyAgent from '${folder}/env-http-proxy-agent.js';
    import Pool from '${folder}/pool.js';
    import api from 'undici/lib/api/index.js';
    Object.assign(Dispatcher.prototype, api); // as the index does
    export { Dispatcher, EnvHttpProxyAgent, Pool };
  `;
  return {
    name: 'undici-in-parts',
    resolveId: (source) => (source === 'undici' ? id : undefined),
    load: (loaded) => (loaded === id ? code : undefined),
  };
}

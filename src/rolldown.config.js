import { defineConfig } from 'rolldown';

/**
 * Makes few files of the command and of all that it needs: reading the 900 of which they are made takes a second of CPU
 * time at each start. The library, `dist/src/index.js`, stays as compiled.
 */
export default defineConfig({
  input: { cqbatch: 'dist/src/cli/main.js', thread: 'dist/src/datastore/embedded/thread.js' },
  platform: 'node',
  // PGlite reads its database from beside its code; the other is not there on every platform.
  external: [/^@electric-sql\/pglite/, 'msgpackr-extract'],
  output: { dir: 'dist/bin', cleanDir: true },
});

// @ts-check

import { readOptions } from '../../../dist/src/sandbox/notation.js';
import { sandboxOptions } from '../../../dist/src/sandbox/options.js';
import { startSandbox } from '../../../dist/src/sandbox/sandbox.js';
import { Service } from '../../../dist/src/sandbox/service.js';

/**
 * A sandbox in this process, which tells how far a job is.
 *
 * @param {{ limit: string, latency: string, retryAfter?: string }} behavior
 * @param {number} rows
 */
export async function startApi(behavior, rows) {
  const options = { port: '0', soundboards: String(rows), ...behavior };
  const service = new Service(readOptions(sandboxOptions, options));
  const { url, close } = await startSandbox(service);
  const changes = () => service.log.entries.filter(({ committed }) => committed);
  return {
    url,
    close,
    /** Waits until this many rows are done. */
    async done(/** @type {number} */ rows) {
      while (changes().length < rows) await new Promise((resolve) => setTimeout(resolve, 50));
    },
    /**
     * What the API saw.
     *
     * @param {ReadonlySet<string | null>} marked identifiers that the contestant names as possibly done twice
     */
    found(marked) {
      const { entries } = service.log;
      const done = changes();
      const ids = new Set(done.map(({ id }) => id));
      const again = done.filter(({ id, nth }) => nth !== 1 && !marked.has(id));
      const first = Date.parse(entries[0]?.time ?? '');
      const last = Date.parse(done.at(-1)?.time ?? '');
      return {
        minutes: (last - first) / 60_000,
        refused: entries.filter(({ throttled }) => throttled).length,
        lost: rows - ids.size,
        twice: done.length - ids.size,
        unmarked: again.length,
      };
    },
  };
}

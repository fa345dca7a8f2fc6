// @ts-check
import { Session } from 'node:inspector/promises';

/** The parts of a row's way, each with the files that do its work, and the packages that do it for them. */
const rooms = {
  rows: /\/src\/engine\/rows\//,
  client: /\/(src\/engine\/(api|worker|rate|operation)|undici)\//,
  ledger: /\/(src\/engine\/(queue|datastore|cluster)|bullmq|ioredis)\//,
  journal: /\/src\/engine\/journal\//,
  report: /\/src\/engine\/report\//,
};

/** @typedef {keyof typeof rooms | 'garbage' | 'rest'} Part */

/** @typedef {Readonly<Record<Part, number>>} Parts CPU time of the main thread by part, in microseconds a row */

const everyMicroseconds = 500;

/**
 * Starts to sample the work of the main thread of this process.
 *
 * @returns {Promise<(rows: number) => Promise<Parts>>} ends sampling, and returns the parts for each row
 */
export async function sampleParts() {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: everyMicroseconds });
  await session.post('Profiler.start');
  return async (rows) => {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    return partsOf(profile, rows);
  };
}

/** @returns {Parts} */
function partsOf(
  /** @type {import('node:inspector').Profiler.Profile} */ { nodes, samples = [], timeDeltas = [] },
  /** @type {number} */ rows,
) {
  const parts = { rows: 0, client: 0, ledger: 0, journal: 0, report: 0, garbage: 0, rest: 0 };
  /** @type {Map<number, Part | undefined>} */
  const known = new Map();
  // A caller precedes what it calls.
  for (const { id, callFrame, children = [] } of nodes) {
    const own = partOf(callFrame) ?? known.get(id);
    known.set(id, own);
    for (const child of children) known.set(child, own);
  }
  const idle = new Set(
    nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id),
  );
  for (const [index, id] of samples.entries())
    if (!idle.has(id)) parts[known.get(id) ?? 'rest'] += (timeDeltas[index] ?? 0) / rows;
  return parts;
}

/** @returns {Part | undefined} undefined: that of its caller */
function partOf(/** @type {{ functionName: string, url: string }} */ { functionName, url }) {
  if (functionName === '(garbage collector)') return 'garbage';
  if (url.includes('/src/engine/run/')) return 'rest';
  const [part] = Object.entries(rooms).find(([, files]) => files.test(url)) ?? [];
  return /** @type {Part | undefined} */ (part);
}

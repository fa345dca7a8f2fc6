// @ts-check
import { writeManifest } from '../manifest.js';
import { arrivalsPerSecond, mostInOneSecond } from '../measure/arrivals.js';
import { embeddedKind, redisKind } from '../measure/datastores.js';
import { lineAbout } from '../measure/figures.js';
import { withLocalApi } from '../measure/local-api.js';
import { inTurns } from '../measure/samples.js';

const callsPerSecond = 100;
const latencyMs = 50;

/** Long enough for bursts to show, and for the second in which connections are made not to matter. */
const seconds = 20;

export const embeddedRate = rateOn('embedded-rate', embeddedKind);
export const redisRate = rateOn('redis-rate', redisKind);

/**
 * How much of an allowed rate a run uses, and how well it keeps below, as the API counts. Two calls arrive closer together than they left
 * if the machine delays only the first: a busy machine shows more calls in a second.
 *
 * @param {string} name
 * @param {import('../measure/datastores.js').DatastoreKind} datastore
 * @returns {import('./scenario.js').Scenario}
 */
function rateOn(name, datastore) {
  return {
    name,
    needsRedis: datastore === redisKind,
    async run(context) {
      const { quick, folder } = context;
      const rows = callsPerSecond * (quick ? 4 : seconds);
      const source = await writeManifest(folder, rows);
      const { ours } = await withLocalApi(latencyMs, ({ url: baseUrl, takeArrivals }) => {
        const options = { source, baseUrl, rate: `${callsPerSecond}/s` };
        return inTurns(
          quick ? 1 : 3,
          {
            async ours() {
              const { cpuMicroseconds = Number.NaN } = await datastore.measure({
                folder,
                program: 'run',
                rows,
                options,
              });
              const arrivals = await takeArrivals();
              return {
                callsPerSecond: arrivalsPerSecond(afterFirstSecond(arrivals)),
                mostCallsInOneSecond: mostInOneSecond(arrivals),
                cpuMicroseconds,
              };
            },
          },
          context,
        );
      });
      const title = `${datastore.name}, --rate ${callsPerSecond}/s, API of ${latencyMs} ms`;
      const besideAllowed = { ours, referenceName: 'allowed' };
      return [
        lineAbout('callsPerSecond', {
          ...besideAllowed,
          title: `${title}: used`,
          reference: ours.map(() => ({ callsPerSecond })),
          comparison: 'share',
          goal: { atLeast: 0.99 },
        }),
        lineAbout('mostCallsInOneSecond', {
          ...besideAllowed,
          title: `${title}: most in any second`,
          reference: ours.map(() => ({ mostCallsInOneSecond: callsPerSecond })),
          comparison: 'value',
          goal: { atMost: callsPerSecond + 2 },
        }),
      ];
    },
  };
}

function afterFirstSecond(/** @type {readonly number[]} */ arrivals) {
  const from = (arrivals[0] ?? 0) + 1_000;
  return arrivals.filter((time) => time >= from);
}

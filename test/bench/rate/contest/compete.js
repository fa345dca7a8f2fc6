// @ts-check
import { mock } from 'node:test';
import { SimulatedApi } from '../simulated-api.js';
import { countIn, emptySeconds, epoch, randomFrom } from '../simulation.js';

/**
 * Lets a contestant call a limited API with simulated timers, and reports each second.
 *
 * @type {import('../world.ts').Play<import('../world.ts').Contestant>}
 */
export const compete = async (world, contestant) => {
  const { capacity = 2_000, seed = 1 } = world;
  const random = randomFrom(seed);
  const api = new SimulatedApi(world, epoch, random);
  const seconds = emptySeconds(world.seconds);
  let freeAt = epoch;
  const call = async () => {
    const at = Math.max(freeAt, Date.now());
    freeAt = at + 1_000 / capacity;
    await until(at);
    const { end, outcome, release, status, headers } = api.call(Date.now(), 0);
    countIn(seconds, Date.now() - epoch, outcome);
    await until(end);
    release?.();
    return { status, headers };
  };
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: epoch });
  const chance = mock.method(Math, 'random', random);
  try {
    contestant(call);
    for (let passed = 0; passed < 1_000 * world.seconds; passed++) {
      mock.timers.tick(1);
      // All promises settle that this millisecond has resolved. After the last one, all wait for timers that never come.
      await new Promise(setImmediate);
    }
  } finally {
    chance.mock.restore();
    mock.timers.reset();
  }
  return seconds;
};

async function until(/** @type {number} */ at) {
  const wait = Math.ceil(at - Date.now());
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
}

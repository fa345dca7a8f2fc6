import { figuresOf } from '../../../bench/rate/figures.js';
import { ideal, simulate } from '../../../bench/rate/simulation.js';
import type { Figures, Model, Second, World } from '../../../bench/rate/world.ts';

export { conditions } from '../../../bench/rate/conditions.js';

/**
 * Runs that were played, by their world: a longer one begins like a shorter one. Runs that report each call are not
 * kept.
 */
const games = new Map<string, readonly Second[]>();

/** What a client met with in each second, calling an API as the governor decides. */
export function played(world: World): readonly Second[] {
  if (Object.values(world).some((value) => typeof value === 'function')) return simulate(world);
  const { seconds, ...rest } = world;
  const key = JSON.stringify({ limitStatus: 429, seed: 1, ...rest });
  const game = games.get(key);
  if (game !== undefined && game.length >= seconds) return game.slice(0, seconds);
  const longer = simulate(world);
  games.set(key, longer);
  return longer;
}

/** The figures of such a run. */
export function figures(world: World, model: Omit<Model, 'title' | 'world'> = {}): Figures {
  return figuresOf({ title: world.limit, world, ...model }, played(world), ideal(world));
}

// @ts-check
import { shown } from './figures.js';

/** @typedef {import('./figures.js').Figures} Figures */

/** The middle of the samples; between the two middle ones when their number is even. */
export function median(/** @type {readonly number[]} */ samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * Ours compared with the reference, turn by turn. Both samples of a turn were taken within seconds of each other, so that other
 * work of the machine weighs on both, and the ratios vary less than the samples.
 *
 * @param {import('./line.js').Comparison} comparison
 * @param {readonly number[]} ours
 * @param {readonly number[]} reference
 * @returns {readonly number[]}
 */
export function compare(comparison, ours, reference) {
  if (comparison === 'value') return ours;
  return ours.map((sample, turn) => {
    const other = reference[turn] ?? Number.NaN;
    return comparison === 'difference' ? sample - other : sample / other;
  });
}

/**
 * Measures contestants in turns: each once, in the given order, then each again. Nothing else is measured meanwhile.
 *
 * @template {string} Name
 * @param {number} turns
 * @param {Readonly<Record<Name, () => Promise<Figures>>>} contestants
 * @param {Pick<import('../scenarios/scenario.js').Context, 'say' | 'keep'>} context
 * @returns {Promise<Record<Name, readonly Figures[]>>} the figures of each contestant, one for each turn
 */
export async function inTurns(turns, contestants, { say, keep }) {
  const names = /** @type {Name[]} */ (Object.keys(contestants));
  const samples = names.map(() => /** @type {Figures[]} */ ([]));
  for (let turn = 1; turn <= turns; turn++) {
    const said = [];
    for (const [index, name] of names.entries()) {
      const figures = await contestants[name]();
      samples[index]?.push(figures);
      keep({ contestant: name, turn, ...figures });
      said.push(`${name} ${shown(figures)}`);
    }
    say(`  ${turn} of ${turns}: ${said.join(', ')}`);
  }
  const byName = Object.fromEntries(names.map((name, index) => [name, samples[index] ?? []]));
  return /** @type {Record<Name, Figures[]>} */ (byName);
}

// @ts-check

/** The middle of the samples; between the two middle ones when their number is even. */
export function median(/** @type {readonly number[]} */ samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * What ours is to the reference, turn by turn. Both samples of a turn were taken within seconds of each other, so what
 * else the machine does weighs on both, and the ratios vary less than the samples.
 *
 * @param {'ratio' | 'difference'} comparison
 * @param {readonly number[]} ours
 * @param {readonly number[]} reference
 * @returns {readonly number[]}
 */
export function compare(comparison, ours, reference) {
  return ours.map((sample, turn) => {
    const other = reference[turn] ?? Number.NaN;
    return comparison === 'ratio' ? sample / other : sample - other;
  });
}

/**
 * Measures contestants in turns: each once, in the order given, then each again. Nothing else is measured meanwhile.
 *
 * @template {string} Name
 * @param {number} turns
 * @param {Readonly<Record<Name, (turn: number) => Promise<number>>>} contestants
 * @param {(text: string) => void} say
 * @returns {Promise<Record<Name, number[]>>} the samples of each contestant, one for each turn
 */
export async function inTurns(turns, contestants, say) {
  const names = /** @type {Name[]} */ (Object.keys(contestants));
  const samples = /** @type {Record<Name, number[]>} */ (Object.fromEntries(names.map((name) => [name, []])));
  for (let turn = 0; turn < turns; turn++) {
    for (const name of names) samples[name].push(await contestants[name](turn));
    const figures = names.map((name) => `${name} ${Number(samples[name][turn]?.toPrecision(4))}`);
    say(`  ${turn + 1} of ${turns}: ${figures.join(', ')}`);
  }
  return samples;
}

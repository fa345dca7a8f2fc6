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
 * @param {'ratio' | 'share' | 'difference'} comparison
 * @param {readonly number[]} ours
 * @param {readonly number[]} reference
 * @returns {readonly number[]}
 */
export function compare(comparison, ours, reference) {
  return ours.map((sample, turn) => {
    const other = reference[turn] ?? Number.NaN;
    return comparison === 'difference' ? sample - other : sample / other;
  });
}

/**
 * Measures contestants in turns: each once, in the order given, then each again. Nothing else is measured meanwhile.
 *
 * @template {string} Name
 * @param {number} turns
 * @param {Readonly<Record<Name, () => Promise<number>>>} contestants
 * @param {(text: string) => void} say
 * @returns {Promise<Record<Name, readonly number[]>>} the samples of each contestant, one for each turn
 */
export async function inTurns(turns, contestants, say) {
  const names = /** @type {Name[]} */ (Object.keys(contestants));
  const samples = names.map(() => /** @type {number[]} */ ([]));
  for (let turn = 1; turn <= turns; turn++) {
    const figures = [];
    for (const [index, name] of names.entries()) {
      const sample = await contestants[name]();
      samples[index]?.push(sample);
      figures.push(`${name} ${Number(sample.toPrecision(4))}`);
    }
    say(`  ${turn} of ${turns}: ${figures.join(', ')}`);
  }
  const byName = Object.fromEntries(names.map((name, index) => [name, samples[index] ?? []]));
  return /** @type {Record<Name, number[]>} */ (byName);
}

// @ts-check
/**
 * One scenario: a measurement and its reference, in turns.
 *
 * @typedef {object} Scenario
 * @property {string} name as typed after `npm run bench --`
 * @property {boolean} [needsRedis]
 * @property {boolean} [long] whether it is measured only when it is named, or with `--all`
 * @property {(context: Context) => Promise<readonly Line[]>} run
 */

/**
 * @typedef {object} Context
 * @property {boolean} quick small figures, for a check that everything works
 * @property {string} folder the scenario's own; it is removed afterwards
 * @property {(text: string) => void} say what is going on, for people
 * @property {(sample: Sample) => void} keep a measurement, for machines
 */

/** @typedef {{ contestant: string, turn: number } & import('../measure/figures.js').Figures} Sample */

/** @typedef {import('../measure/line.js').Line} Line */

export {};

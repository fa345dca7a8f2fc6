// @ts-check

const units = /** @type {const} */ ({
  rowsPerSecond: 'rows/s',
  callsPerSecond: 'calls/s',
  mostCallsInOneSecond: 'calls',
  wallMs: 'ms',
  cpuMs: 'ms',
  cpuMicroseconds: 'µs',
  warmCpuMicroseconds: 'µs',
  redisCpuMicroseconds: 'µs',
  peakMb: 'MB',
  sizeMb: 'MB',
  openMs: 'ms',
  rows: 'µs',
  client: 'µs',
  ledger: 'µs',
  journal: 'µs',
  report: 'µs',
  garbage: 'µs',
  rest: 'µs',
  redisPercent: '%',
  redisPercentEach: '%',
  usedPercent: '%',
  resumedPercent: '%',
  refusedPercent: '%',
  awakeMs: 'ms',
  everywhereMs: 'ms',
});

/** @typedef {keyof typeof units} FigureName */

/**
 * What one measurement has given. CPU times are of all threads, user and system: `cpuMicroseconds` per row of what is
 * measured, `warmCpuMicroseconds` of the rows from a half to 95 % of them, `redisCpuMicroseconds` per row of the Redis server, `cpuMs` of a whole process from start to end. `peakMb` is
 * the most resident memory of the process. `rows` to `rest` are parts of the CPU time of its main thread, per row.
 *
 * @typedef {Readonly<Partial<Record<FigureName, number>>>} Figures
 */

/** @typedef {import('./line.js').Line} Line */

/**
 * The line of the table about one of the figures, turn by turn.
 *
 * @param {FigureName} name
 * @param {Pick<Line, 'title' | 'referenceName' | 'comparison'> & {
 *   ours: readonly Figures[], reference: readonly Figures[], goal?: import('./line.js').Goal | undefined
 * }} about
 * @returns {Line}
 */
export function lineAbout(name, { ours, reference, goal, ...line }) {
  return {
    ...line,
    unit: units[name],
    ours: ours.map((figures) => figureOf(figures, name)),
    reference: reference.map((figures) => figureOf(figures, name)),
    ...(goal !== undefined && { goal }),
  };
}

/** The figures as people read them while they come in. */
export function shown(/** @type {Figures} */ figures) {
  const names = /** @type {FigureName[]} */ (Object.keys(figures));
  return names.map((name) => `${Number(figureOf(figures, name).toPrecision(4))} ${units[name]}`).join(' ');
}

function figureOf(/** @type {Figures} */ figures, /** @type {FigureName} */ name) {
  const value = figures[name];
  if (value === undefined) throw new Error(`There is no figure ${name}.`);
  return value;
}

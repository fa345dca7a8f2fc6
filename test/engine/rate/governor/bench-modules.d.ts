/** The simulation is JavaScript, because the benchmark runs without a build of the tests. */
declare module '*/bench/rate/simulation.js' {
  export const simulate: import('../../../bench/rate/world.ts').Simulate;
  export const ideal: import('../../../bench/rate/world.ts').Ideal;
}

declare module '*/bench/rate/figures.js' {
  export const figuresOf: import('../../../bench/rate/world.ts').FiguresOf;
}

declare module '*/bench/rate/conditions.js' {
  export const conditions: readonly import('../../../bench/rate/world.ts').Condition[];
}

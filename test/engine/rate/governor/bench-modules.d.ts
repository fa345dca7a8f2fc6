/** The simulation is JavaScript, because the benchmark runs without a build of the tests. */
declare module '*/bench/rate/simulation.js' {
  export const simulate: import('../../../bench/rate/world.ts').Simulate;
  export const ideal: import('../../../bench/rate/world.ts').Ideal;
}

declare module '*/bench/rate/figures.js' {
  export const figuresOf: import('../../../bench/rate/world.ts').FiguresOf;
}

declare module '*/contest/limits.js' {
  export const contestLimits: readonly import('../../../bench/rate/world.ts').ContestLimit[];
}

declare module '*/contest/contestants.js' {
  export const contestants: import('../../../bench/rate/world.ts').Contestants;
}

declare module '*/contest/compete.js' {
  export const compete: import('../../../bench/rate/world.ts').Play<
    import('../../../bench/rate/world.ts').Contestant
  >;
}

declare module '*/contest/protocol.js' {
  export const playProgram: import('../../../bench/rate/world.ts').Play<string>;
}

/** What a figure shows: a title, a summary, and a chart if there is enough data. */
export interface Chart {
  readonly title: string;
  /** The most important figures, in words. */
  readonly summary: string;
  /** Absent when there is too little data for lines. */
  readonly data?: ChartData;
}

/** Times are seconds since 1970. */
export interface ChartData {
  /** In ascending order. The first and the last time are the ends of the axis. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** Calls that the API rejected in the time before each point; absent if it rejected none. */
  readonly rejected?: readonly number[];
  readonly bands: readonly Band[];
  readonly valueText: (value: number) => string;
  /** The distances that the lines of the grid may have. */
  readonly steps: readonly number[];
  readonly isLogarithmic: boolean;
}

export interface Line {
  readonly label: string;
  readonly color: ColorName;
  /** Null at times without a value. */
  readonly values: readonly (number | null)[];
  /** The value of the whole run. */
  readonly overall: string;
  /** Whether each value was valid since the previous point, so that the line has steps. */
  readonly isStepped?: boolean;
  /** The dash pattern, because lines must differ by more than their colors. */
  readonly stroke: keyof typeof dashes;
}

/** The CSS variables with the colors of charts. */
export const colorNames = [
  '--quiet',
  '--line',
  '--achieved',
  '--allowed',
  '--slowest',
  '--rejected',
  '--wait',
  '--stop',
] as const;

export type ColorName = (typeof colorNames)[number];

/** The dash patterns, in pixels, by their names in CSS. */
export const dashes = { solid: [], dashed: [6, 4], dotted: [2, 3] } as const;

/** A time that is shaded. */
export interface Band {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  /** `wait`: no call was possible; `stop`: the run was not in progress. */
  readonly kind: 'wait' | 'stop';
}

/** The band that includes a time. */
export function bandAt({ bands }: Pick<ChartData, 'bands'>, time: number): Band | undefined {
  return bands.find(({ from, to }) => from <= time && time <= to);
}

export interface Chart {
  readonly title: string;
  readonly summary: string;
  /** Absent when there is too little data for lines. */
  readonly data?: ChartData;
}

/** Times are seconds since 1970. */
export interface ChartData {
  /** Ascending, from one end of the axis to the other. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly bands: readonly Band[];
  readonly valueText: (value: number) => string;
  /** Possible distances of the lines of the grid. */
  readonly steps: readonly number[];
  readonly isLogarithmic?: boolean;
}

export interface Line {
  readonly label: string;
  readonly color: ColorName;
  /** Null at times without a value. */
  readonly values: readonly (number | null)[];
  /** By default, that of the chart. */
  readonly valueText?: ChartData['valueText'];
  /** The value of the whole run. */
  readonly overall: string;
  /** Whether each value was valid since the previous point. */
  readonly isStepped?: boolean;
  /** Lines must differ by more than their colors. A `mark` is no line, but a triangle above the lines at each value. */
  readonly stroke: keyof typeof dashes | 'mark';
}

/** Undefined at a time without a value. */
export function textAt(data: ChartData, line: Line, index: number): string | undefined {
  const value = line.values[index] ?? null;
  return value === null ? undefined : (line.valueText ?? data.valueText)(value);
}

/** The CSS variables of charts. */
export const colorNames = [
  '--quiet',
  '--line',
  '--accent',
  '--succeeded',
  '--attention',
  '--failed',
  '--wait',
  '--stop',
] as const;

export type ColorName = (typeof colorNames)[number];

/** In pixels, by their names in CSS. */
export const dashes = { solid: [], dashed: [6, 4], dotted: [2, 3] } as const;

export interface Band {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  /** `wait`: no call was possible; `stop`: the run was not in progress. */
  readonly kind: 'wait' | 'stop';
}

export function bandAt({ bands }: Pick<ChartData, 'bands'>, time: number): Band | undefined {
  return bands.find(({ from, to }) => from <= time && time <= to);
}

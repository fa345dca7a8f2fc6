export interface Chart {
  readonly title: string;
  readonly summary: string;
  /** The data of the chart. Absent when there is too little for lines. */
  readonly data?: ChartData;
}

/** The data of a chart. Times are seconds since 1970. */
export interface ChartData {
  /** The times of the points, ascending, from one end of the axis to the other. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly bands: readonly Band[];
  readonly valueText: (value: number) => string;
  /** The possible distances between two lines of the grid. */
  readonly steps: readonly number[];
  readonly isLogarithmic?: boolean;
}

export interface Line {
  readonly label: string;
  readonly color: ColorName;
  /** The values at the times of the chart. Null at times without a value. */
  readonly values: readonly (number | null)[];
  /** The text of a value. Default: as the chart writes values. */
  readonly valueText?: ChartData['valueText'];
  /** The value of the whole run, as text. */
  readonly overallText: string;
  /** Whether each value was valid since the previous point. */
  readonly isStepped?: boolean;
  /** The stroke of the line: lines must differ by more than their colors. A `mark` is a triangle above the lines at each value. */
  readonly stroke: keyof typeof dashes | 'mark';
}

/** The text of a line's value at a time. Undefined without a value. */
export function textAt(data: ChartData, line: Line, index: number): string | undefined {
  const value = line.values[index] ?? null;
  return value === null ? undefined : (line.valueText ?? data.valueText)(value);
}

/** The CSS variables of the colors of charts. */
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

/** The strokes of lines, in pixels, by their names in CSS. */
export const dashes = { solid: [], dashed: [6, 4], dotted: [2, 3] } as const;

export interface Band {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  /** Why the band is shaded. `wait`: no call was possible; `stop`: the run was not in progress. */
  readonly kind: 'wait' | 'stop';
}

export function bandAt({ bands }: Pick<ChartData, 'bands'>, time: number): Band | undefined {
  return bands.find(({ from, to }) => from <= time && time <= to);
}

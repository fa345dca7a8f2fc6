import uPlot from 'uplot';
import { type ChartData, colorNames, dashes, type Line } from './chart.ts';
import { type Colors, drawBands, drawMarks, marksHeight } from './marks.ts';
import { timeSteps, timeTicks } from './ticks.ts';

const height = 220;
/** With fewer points than this, each point has a mark. */
const markedPoints = 30;
/** The width of the axis is the same in all charts, so that equal times are below each other. */
const axisWidth = 74;
/** Half the width of a date: room for the last text of the time axis. */
const halfLabel = 36;

/**
 * Draws a plot. The reader looks at the same time in all plots of the page.
 *
 * @param place its style sheet gives the colors
 * @param data the latest
 * @param onLook gets the index of the point that the reader looks at
 */
export function plotOf(
  place: HTMLElement,
  data: () => ChartData,
  onLook: (index: number | null) => void,
  onZoom: () => void,
): uPlot {
  const { lines, steps, valueText, isLogarithmic = false } = data();
  const colors = colorsOf(place);
  const axis: uPlot.Axis = {
    stroke: colors['--quiet'],
    grid: { stroke: colors['--line'], width: 1 },
    ticks: { stroke: colors['--line'], size: 5 },
  };
  const options: uPlot.Options = {
    width: place.clientWidth,
    height,
    padding: [lines.some(({ stroke }) => stroke === 'mark') ? marksHeight : null, halfLabel, null, null],
    scales: { y: isLogarithmic ? { distr: 3, range: powersAround } : { range: fromZero } },
    legend: { show: false },
    cursor: { y: false, sync: { key: 'time' } },
    hooks: {
      drawClear: [(plot) => drawBands(plot, data(), colors)],
      draw: [(plot) => drawMarks(plot, data(), colors)],
      setScale: [onZoom],
      setCursor: [({ cursor }) => onLook(cursor.idx ?? null)],
    },
    axes: [
      {
        ...axis,
        size: 50,
        space: 80,
        incrs: [...timeSteps],
        values: (_, times, __, ___, step) => [...timeTicks(times, step)],
      },
      {
        ...axis,
        ...(!isLogarithmic && { incrs: [...steps] }),
        size: axisWidth,
        values: (_, values: (number | null)[]) =>
          values.map((value) => (value === null ? '' : valueText(value))),
      },
    ],
    series: [{}, ...lines.map((line) => seriesOf(line, colors))],
  };
  return new uPlot(options, alignedData(data()), place);
}

export function alignedData({ times, lines }: ChartData): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
}

/** The colors of charts in the style sheet. They change with the theme, and on paper. */
function colorsOf(place: HTMLElement): Colors {
  const found = colorNames.map((name) => {
    place.style.color = `var(${name})`;
    return [name, getComputedStyle(place).color];
  });
  place.style.color = '';
  return Object.fromEntries(found) as Colors;
}

function seriesOf({ color, stroke, isStepped }: Line, colors: Colors): uPlot.Series {
  if (stroke === 'mark') return { show: false };
  return {
    stroke: colors[color],
    width: 2,
    points: {
      show: ({ data: [times] }) => times.length < markedPoints,
      filter: ({ data }, index, isShown) => (isShown ? null : lonePoints(data[index] ?? [])),
    },
    dash: [...dashes[stroke]],
    ...(isStepped && uPlot.paths.stepped !== undefined && { paths: uPlot.paths.stepped({ align: -1 }) }),
  };
}

/** The indexes of points that no line shows, because both neighbors have no value. */
function lonePoints(values: uPlot.AlignedData[number]): number[] {
  return [...values.keys()].filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );
}

/** The range of an axis that begins with 0. It ends at 1 if all values are 0, where the range of uPlot would be tiny. */
function fromZero(_: uPlot, __: number, most: number | null): [number, number] {
  return [0, uPlot.rangeNum(0, most || 1, 0.1, true)[1] ?? 1];
}

function powersAround(_: uPlot, least: number | null, most: number | null): [number, number] {
  const [from = 1, to = 10] = uPlot.rangeLog(Math.max(1, least ?? 1), most ?? 10, 10, true);
  return [from ?? 1, to ?? 10];
}

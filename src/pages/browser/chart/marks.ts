import type uPlot from 'uplot';
import { count } from '../../../base/text/format.ts';
import type { ChartData, ColorName } from './chart.ts';

export type Colors = Readonly<Record<ColorName, string>>;

/** The space above a chart with marks, in CSS pixels. */
export const marksHeight = 24;
/** The least distance between two marks, in CSS pixels. Closer marks become one. */
const closestMarks = 12;
const font = '11px system-ui, sans-serif';

/** Draws in CSS pixels from the upper left corner of the area with the lines. */
function drawScaled(plot: uPlot, drawing: (context: CanvasRenderingContext2D, width: number) => void): void {
  const { ctx, bbox } = plot;
  const scale = ctx.canvas.width / plot.width;
  ctx.save();
  ctx.translate(bbox.left, bbox.top);
  ctx.scale(scale, scale);
  ctx.font = font;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'alphabetic';
  drawing(ctx, bbox.width / scale);
  ctx.restore();
}

/** Shades the visible part of each band. */
export function drawBands(plot: uPlot, { bands }: ChartData, colors: Colors): void {
  drawScaled(plot, (context, width) => {
    for (const band of bands) {
      const left = Math.max(0, plot.valToPos(band.from, 'x'));
      const right = Math.min(width, plot.valToPos(band.to, 'x'));
      context.fillStyle = colors[`--${band.kind}`];
      // A band is at least one pixel wide, so that a short wait in a long run is visible.
      if (right >= left) context.fillRect(left, 0, Math.max(1, right - left), plot.over.clientHeight);
    }
  });
}

/** Draws values above the lines, with their number where there is room. */
export function drawMarks(plot: uPlot, { times, lines }: ChartData, colors: Colors): void {
  const { values, color } = lines.find(({ stroke }) => stroke === 'mark') ?? {};
  if (values === undefined || color === undefined) return;
  drawScaled(plot, (context, width) => {
    const marks: { at: number; calls: number }[] = [];
    for (const [index, calls] of values.entries()) {
      const at = plot.valToPos(times[index] ?? 0, 'x');
      if (calls === null || at < 0 || at > width) continue;
      const last = marks.at(-1);
      if (last !== undefined && at - last.at < closestMarks) last.calls += calls;
      else marks.push({ at, calls });
    }
    context.textAlign = 'center';
    let free = Number.NEGATIVE_INFINITY;
    for (const { at, calls } of marks) {
      context.fillStyle = colors[color];
      context.beginPath();
      context.moveTo(at - 5, -9);
      context.lineTo(at + 5, -9);
      context.lineTo(at, -1);
      context.fill();
      const half = context.measureText(count(calls)).width / 2 + 3;
      if (at - half < free) continue;
      free = at + half;
      context.fillStyle = colors['--quiet'];
      context.fillText(count(calls), at, -12);
    }
  });
}

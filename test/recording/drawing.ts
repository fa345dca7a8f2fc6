import { type Cell, type Style, textOf } from './terminal.ts';

/** What a terminal shows, from when until the end or the next version, in seconds. */
export interface Version {
  readonly from: number;
  readonly cells: readonly Cell[];
}

export interface Recording {
  /** Every version of each line, from the first line to the last. */
  readonly lines: readonly (readonly Version[])[];
  /** The first line on the screen, and from when. */
  readonly tops: readonly { readonly from: number; readonly line: number }[];
  readonly seconds: number;
  readonly columns: number;
  readonly rows: number;
}

const [charWidth, lineHeight, margin] = [7.9, 19, 16];

/**
 * An animated SVG without scripts. The versions of a line stand side by side, and a strip moves them through the window, so that
 * one animation is enough for a line. Lines that change at the same time share their strip. Without animation, each strip
 * shows the last version.
 */
export function drawn({ lines, tops, seconds, columns, rows }: Recording, title: string): string {
  const [innerWidth, innerHeight] = [Math.ceil(columns * charWidth), rows * lineHeight];
  const [width, height] = [innerWidth + 2 * margin, innerHeight + 2 * margin];
  const keyframes: string[] = [];

  function moving(moves: readonly { readonly from: number; readonly to: string }[], content: string): string {
    const name = `m${keyframes.length}`;
    const frames = moves.map(({ from, to }) => `${((100 * from) / seconds).toFixed(2)}%{transform:${to}}`);
    const end = moves.at(-1)?.to;
    keyframes.push(`@keyframes ${name}{${frames.join('')}100%{transform:${end}}}`);
    return `<g style="animation-name:${name};transform:${end}">\n${content}\n</g>`;
  }

  const strips = new Map<string, string[]>();
  for (const [line, versions] of lines.entries()) {
    const times = versions.map(({ from }) => from).join();
    const texts = versions.map(
      ({ cells }, place) =>
        `<text x="${margin + place * width}" y="${margin + (line + 1) * lineHeight - 5}">${colored(cells)}</text>`,
    );
    strips.set(times, [...(strips.get(times) ?? []), ...texts]);
  }
  strips.delete('');
  const drawing = [...strips].map(([times, texts]) => {
    const moves = times.split(',').map((from, place) => ({
      from: Number(from),
      to: `translateX(${-place * width}px)`,
    }));
    return moving([{ from: 0, to: `translateX(${width}px)` }, ...moves], texts.join('\n'));
  });
  const scrolled = moving(
    tops.map(({ from, line }) => ({ from, to: `translateY(${-line * lineHeight}px)` })),
    drawing.join('\n'),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" xml:space="preserve">
<title>${title}</title>
<style>
rect{fill:#12161c;stroke:#30363d}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}
.bold{fill:#fff;font-weight:bold}.good{fill:#56d364}.bad{fill:#ff7b72}.warning{fill:#e3b341}.quiet{fill:#8b949e}
@media (prefers-color-scheme:light){
rect{fill:#f6f8fa;stroke:#d1d9e0}
text{fill:#1f2328}
.bold{fill:#000}.good{fill:#1a7f37}.bad{fill:#cf222e}.warning{fill:#9a6700}.quiet{fill:#59636e}
}
g{animation:${seconds.toFixed(1)}s step-end infinite}
@media (prefers-reduced-motion){g{animation:none}}
${keyframes.join('\n')}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
<clipPath id="screen"><rect x="${margin}" y="${margin}" width="${innerWidth}" height="${innerHeight}"/></clipPath>
<g clip-path="url(#screen)">
${scrolled}
</g>
</svg>
`;
}

/** The lines of a recording as they are in the end, with those that have scrolled away. */
export function lastLines(svg: string): readonly string[] {
  const versions = [...svg.matchAll(/<text x="\d+" y="(\d+)">(.*)<\/text>/g)];
  const last = new Map(versions.map(([, y, text = '']) => [Number(y), text]));
  return [...last]
    .sort(([a], [b]) => a - b)
    .map(([, text]) =>
      text
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('&lt;', '<')
        .replaceAll('&amp;', '&'),
    );
}

/** A line as SVG. A typed command is bold behind a green prompt. */
function colored(cells: readonly Cell[]): string {
  const [, command] = /^\$ (.*)$/.exec(textOf(cells)) ?? [];
  if (command !== undefined) return `${span('$', 'good')} ${span(command, 'bold')}`;
  let text = '';
  for (let start = 0; start < cells.length; ) {
    const style = cells[start]?.style;
    const length = cells.slice(start).findIndex((cell) => cell.style !== style);
    const end = length === -1 ? cells.length : start + length;
    text += span(textOf(cells.slice(start, end)), style);
    start = end;
  }
  return text;
}

function span(text: string, style: Style | undefined): string {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return style === undefined || safe === '' ? safe : `<tspan class="${style}">${safe}</tspan>`;
}

import type { Typed } from './console-blocks.ts';

/** The terminal that is shown. */
const [columns, rows] = [104, 24];
const [charWidth, lineHeight, margin] = [7.8, 18, 16];
const [width, height] = [2 * margin + columns * charWidth, 2 * margin + rows * lineHeight];

/** How long things take, in seconds. */
const pace = { beforeCommand: 0.8, char: 0.04, beforeOutput: 0.8, line: 0.06, answer: 1.2, afterScene: 4 };

/** A line on the screen. */
interface Line {
  readonly text: string;
  readonly row: number;
  /** When it appears, in seconds. */
  readonly from: number;
}

/** A command that is typed, and what it prints, on a screen of its own. */
interface Scene {
  readonly command: string;
  readonly from: number;
  readonly typedBy: number;
  readonly lines: readonly Line[];
  readonly until: number;
}

/** @throws an error when a command prints more lines than the terminal has */
function sceneOf({ line: command, shown }: Typed, start: number): Scene {
  const from = start + pace.beforeCommand;
  const typedBy = from + command.length * pace.char;
  let now = typedBy + pace.beforeOutput;
  const lines = wrapped(shown).map((text, index): Line => {
    const line = { text, row: index + 1, from: now };
    now += /\[y\/N\] y$/.test(text) ? pace.answer : pace.line;
    return line;
  });
  if (lines.length >= rows)
    throw new Error(`${command} prints ${lines.length} lines: the terminal has ${rows}`);
  return { command, from, typedBy, lines, until: now + pace.afterScene };
}

function wrapped(shown: string): readonly string[] {
  const cut = new RegExp(`.{1,${columns}}`, 'gu');
  return shown
    .trimEnd()
    .split('\n')
    .flatMap((line) => line.match(cut) ?? ['']);
}

/** An animated SVG, without scripts, that shows how commands are typed and what they print. */
export function recordingOf(commands: readonly Typed[], title: string): string {
  const scenes: Scene[] = [];
  for (const command of commands) scenes.push(sceneOf(command, scenes.at(-1)?.until ?? 0));
  const seconds = scenes.at(-1)?.until ?? 0;
  const share = (at: number): string => `${((100 * at) / seconds).toFixed(2)}%`;
  const styles: string[] = [];

  function drawn(scene: Scene, number: number): readonly string[] {
    const { command, typedBy, from, until } = scene;
    const isLast = number === scenes.length - 1;
    const shown = (at: number): string => {
      const name = `s${styles.length}`;
      styles.push(`@keyframes ${name}{0%{opacity:0}${share(at)}{opacity:1}${share(until)},100%{opacity:0}}`);
      return name;
    };
    const text = (line: Line, name: string): string =>
      `<text class="${isLast ? 'last' : ''}" style="animation-name:${name}" x="${margin}" y="${yOf(line.row) + 13}">${colored(line.text)}</text>`;
    const whole = shown(from);
    const typing = `t${number}`;
    // A cover that moves to the right, character by character.
    const steps = `animation-timing-function:steps(${command.length})`;
    const away = `transform:translateX(${(command.length * charWidth).toFixed(1)}px)`;
    styles.push(
      `@keyframes ${typing}{0%,${share(from)}{transform:none;${steps}}${share(typedBy)},100%{${away}}}`,
    );
    const place = `x="${margin + 2 * charWidth}" y="${yOf(0)}" width="${columns * charWidth}" height="${lineHeight}"`;
    return [
      text({ text: `$ ${command}`, row: 0, from }, whole),
      `<g style="animation-name:${whole}"><rect style="animation-name:${typing}" ${place}/></g>`,
      ...scene.lines.map((line) => text(line, shown(line.from))),
    ];
  }

  const drawing = scenes.flatMap(drawn);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">
<title>${title}</title>
<style>
rect{fill:#12161c}
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}
text,g{opacity:0}
.command{fill:#fff;font-weight:bold}.good{fill:#56d364}.bad{fill:#ff7b72}.quiet{fill:#8b949e}
text,g,g rect{animation:${seconds.toFixed(1)}s step-end infinite}
@media (prefers-reduced-motion){text,g,g rect{animation:none}.last{opacity:1}}
${styles.join('\n')}
</style>
<rect width="${width}" height="${height}" rx="8"/>
${drawing.join('\n')}
</svg>
`;
}

function yOf(row: number): number {
  return margin + row * lineHeight;
}

/** Colors as a terminal shows them, roughly: what was typed, good and bad results, and lines that are left out. */
function colored(text: string): string {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  if (safe.startsWith('$ '))
    return `<tspan class="good">$</tspan><tspan class="command">${safe.slice(1)}</tspan>`;
  if (safe === '…') return `<tspan class="quiet">${safe}</tspan>`;
  return safe
    .replace(/\[y\/N\] (y)$/, '[y/N] <tspan class="command">$1</tspan>')
    .replaceAll(/\d+ succeeded|\bsucceeded\b|█+/g, '<tspan class="good">$&</tspan>')
    .replaceAll(/[1-9]\d* failed|\bfailed {2}|░+/g, '<tspan class="bad">$&</tspan>');
}

import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { Terminal } from '../terminal.ts';

/** The program that opens a file like a double click, by platform. Default: `xdg-open`. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};

/** Shows a page in the user's browser. */
export function openPage(terminal: Pick<Terminal, 'warn'>, path: string): void {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const opening = spawn(program, [...args, resolve(path)], { stdio: 'ignore', detached: true });
  opening.once('error', () =>
    terminal.warn(`warning: ${program} is not installed: open ${path} in a browser.`),
  );
  opening.unref();
}

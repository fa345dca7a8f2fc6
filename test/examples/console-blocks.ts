import { readFileSync } from 'node:fs';

/** A command of a page, and the lines that the page shows below it. */
export interface Typed {
  readonly line: string;
  readonly shown: string;
}

/** The commands in the `console` blocks of a page. */
export function commandsOf(page: string): readonly Typed[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```console\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, block = '']) =>
    [...block.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, line = '', shown = '']) => ({
      line,
      shown,
    })),
  );
}

/** The command lines in blocks of shell, behind `cqbatch`, as they are typed or stand in a crontab. */
export function shellLinesOf(page: string): readonly string[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, block = '']) =>
    block
      .replaceAll('\\\n', ' ')
      .split('\n')
      .flatMap((line) => /^(?:[^#'"|]*\s)?cqbatch (.*)$/.exec(line)?.[1] ?? []),
  );
}

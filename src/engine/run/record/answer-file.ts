import { appendFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGunzip, gzip } from 'node:zlib';
import { readFileParts } from '../../../base/disk/open-file.ts';
import { onDisk } from '../../../base/errors/system-error.ts';
import { jsonLine } from '../../../base/text/json.ts';
import type { SavedAnswer } from '../../../domain/terms.ts';
import { openRows } from '../../rows/rows-file.ts';
import { rowsFile } from './run-rows.ts';

export type AnswerFile = ReturnType<typeof answerFile>;

/**
 * Saves answers as `responses-1.jsonl.gz` (`--save-responses`), one file for each session. Each write is a gzip member, so that a kill
 * spoils no earlier line.
 */
export function answerFile(folder: string) {
  let file: { readonly path: string; readonly numberOf: (row: number) => number } | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function create() {
    const last = (await filesOf(folder)).at(-1);
    const path = join(folder, `responses-${last === undefined ? 1 : numberIn(last) + 1}.jsonl.gz`);
    const numberOf = await (await openRows(join(folder, rowsFile))).numbers();
    await onDisk(path, () => writeFile(path, '', { flag: 'wx', mode: 0o600 }));
    return { path, numberOf };
  }
  async function append(answers: readonly SavedAnswer[]): Promise<void> {
    file ??= await create();
    const { path, numberOf } = file;
    const lines = answers.map((answer) => jsonLine({ ...answer, row: numberOf(answer.row) }));
    const member = await promisify(gzip)(lines.join(''));
    await onDisk(path, () => appendFile(path, member, { mode: 0o600 }));
  }
  return {
    /** Appends answers. A power failure may lose them. */
    write(answers: readonly SavedAnswer[]): Promise<void> {
      writing = writing.then(() => append(answers));
      return writing;
    },
    close: (): Promise<void> => writing.catch(() => {}),
  };
}

const fileName = /^responses-(\d+)\.jsonl\.gz$/;

function numberIn(name: string): number {
  return Number(fileName.exec(name)?.[1]);
}

async function filesOf(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  return names.filter((name) => fileName.test(name)).toSorted((a, b) => numberIn(a) - numberIn(b));
}

/** @param number the row's number in the user's manifest */
export async function readAnswers(folder: string, number: number): Promise<readonly SavedAnswer[]> {
  const found = new Map<string, SavedAnswer>();
  for (const name of await filesOf(folder)) {
    for await (const line of linesOf(join(folder, name))) {
      if (!line.startsWith(`{"row":${number},`)) continue;
      const answer = JSON.parse(line) as SavedAnswer;
      // A process may repeat what its predecessor wrote before it died.
      found.set(answer.at, answer);
    }
  }
  return [...found.values()].toSorted((a, b) => (a.at < b.at ? -1 : 1));
}

/** The lines of a file of answers. A kill may have cut off the last gzip member. */
async function* linesOf(path: string): AsyncGenerator<string> {
  const unzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  const text = pipeline(readFileParts(path), unzip, () => {}).setEncoding('utf8');
  let rest = '';
  for await (const chunk of text) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

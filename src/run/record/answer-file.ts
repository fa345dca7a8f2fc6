import { createReadStream } from 'node:fs';
import { appendFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, createGunzip, gzip } from 'node:zlib';
import type { SavedAnswer } from '../../domain.ts';
import { jsonLine } from '../../journal/line.ts';
import { onDisk } from '../../system-error.ts';
import type { RunRecord } from './record.ts';
import { readRowNumbers } from './row-numbers.ts';

/**
 * Answers of the API in the folder of a run (`--save-responses`): `responses-1.jsonl.gz`, one file for each session. Each
 * write is a gzip member of its own, so that a kill spoils no earlier line.
 */
export class AnswerFile {
  readonly #folder: string;
  readonly #record: RunRecord;
  #path: string | undefined;
  /** What a row is called in the manifest that the user gave. */
  #numberOf = (row: number): number => row;
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string, record: RunRecord) {
    this.#folder = folder;
    this.#record = record;
  }

  /** Resolves when they are with the system; a power failure may lose them. The first ones create the file. */
  write(answers: readonly SavedAnswer[]): Promise<void> {
    this.#writing = this.#writing.then(() => this.#append(answers));
    return this.#writing;
  }

  /** Resolves when nothing is written any more. */
  async close(): Promise<void> {
    await this.#writing.catch(() => {});
  }

  async #append(answers: readonly SavedAnswer[]): Promise<void> {
    const path = this.#path ?? (await this.#create());
    const lines = answers.map((answer) => jsonLine({ ...answer, row: this.#numberOf(answer.row) }));
    const member = await promisify(gzip)(lines.join(''));
    await onDisk(path, () => appendFile(path, member, { mode: 0o600 }));
  }

  async #create(): Promise<string> {
    this.#numberOf = (await readRowNumbers(this.#folder, this.#record)) ?? this.#numberOf;
    const last = (await filesOf(this.#folder)).at(-1);
    const path = join(this.#folder, `responses-${last === undefined ? 1 : numberIn(last) + 1}.jsonl.gz`);
    await onDisk(path, () => writeFile(path, '', { flag: 'wx', mode: 0o600 }));
    this.#path = path;
    return path;
  }
}

const fileName = /^responses-(\d+)\.jsonl\.gz$/;

function numberIn(name: string): number {
  return Number(fileName.exec(name)?.[1]);
}

async function filesOf(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  return names.filter((name) => fileName.test(name)).toSorted((a, b) => numberIn(a) - numberIn(b));
}

/** The answers to the attempts of a row that a run has kept, in order. @param number as in the manifest that the user gave */
export async function readAnswers(folder: string, number: number): Promise<readonly SavedAnswer[]> {
  const found = new Map<string, SavedAnswer>();
  for (const name of await filesOf(folder)) {
    for await (const line of linesOf(join(folder, name))) {
      if (!line.startsWith(`{"row":${number},`)) continue;
      const answer = JSON.parse(line) as SavedAnswer;
      // What a process had written when it died, its successor may have written again.
      found.set(answer.at, answer);
    }
  }
  return [...found.values()].toSorted((a, b) => (a.at < b.at ? -1 : 1));
}

/** The lines of a gzipped file, as far as it can be read: a kill may have cut its last member off. */
async function* linesOf(path: string): AsyncGenerator<string> {
  const source = createReadStream(path);
  const text = source.pipe(createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })).setEncoding('utf8');
  let rest = '';
  try {
    for await (const chunk of text) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    source.destroy();
  }
}

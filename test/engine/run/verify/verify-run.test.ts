import { cp, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { hashFile } from '../../../../src/base/disk/hash-file.ts';
import { withActor } from '../../../../src/domain/actor.ts';
import { createRun } from '../../../../src/engine/run/plan/create-run.ts';
import { enterState } from '../../../../src/engine/run/record/record.ts';
import { outcomesOf } from '../../../../src/engine/run/record/run-journal.ts';
import { openRunStore, type RunStore } from '../../../../src/engine/run/record/store.ts';
import { reportRun, rewriteReport } from '../../../../src/engine/run/report/report-run.ts';
import { type Verification, verifyRun } from '../../../../src/engine/run/verify/verify-run.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { finished } from '../../journal/arbitraries.ts';
import { leastOptions } from '../planned-record.ts';

const comparedFiles = ['rows.jsonl', 'journal.jsonl', 'report.csv', 'failed.csv', 'summary.json'];

let store: RunStore;
let folder: string;

const options = { ...leastOptions, baseUrl: 'http://127.0.0.1', html: false as const };

/** A run that has ended: two rows succeeded, one failed, one is invalid, one a duplicate. */
beforeEach(async () => {
  const home = await temporaryFolder();
  store = openRunStore(join(home, '.cqbatch'), operations);
  const source = join(home, 'rows.csv');
  await writeFile(source, 'evaluation_id,user_id\n1,u\n2,u\n,u\n1,u\n5,u\n');
  const reading = { clearToken: '<clear>', onConflict: options.onConflict };
  const rows = { kind: 'manifest', source, reading } as const;
  const created = await createRun(store, { rows, options, attribution: withActor() });
  const { record: planned, journal } = created;
  await journal.append([{ type: 'fed', first: 1, last: 5, batch: 'b' }]);
  await journal.append([finished(1), finished(2)]);
  await journal.append([finished(5, { outcome: 'failed', code: 'HTTP_500' }), { type: 'settled' }]);
  folder = store.folder(planned.id);
  const record = {
    ...enterState(enterState(planned, 'running'), 'completed'),
    counts: outcomesOf(planned, journal),
  };
  await store.save(record);
  await reportRun(store, record, journal);
  await journal.close();
});

function verify(against: readonly string[] = []): Promise<Verification> {
  return verifyRun({ folder, against });
}

async function problem(): Promise<string> {
  const verification = await verify();
  return verification.agrees ? 'none' : verification.problem;
}

async function edit(name: string, from: string | RegExp, to: string): Promise<void> {
  const path = join(folder, name);
  const text = await readFile(path, 'utf8');
  const edited = text.replace(from, to);
  expect(edited).not.toBe(text);
  await writeFile(path, edited);
}

const put = (name: string) => writeFile(join(folder, name), '');

/** Writes the report of the files as they are now. */
async function reportAgain(): Promise<void> {
  await rewriteReport(store, await store.load(basename(folder)));
}

describe('a run', () => {
  test('as it ended agrees, and has the digests of its files', async () => {
    const verification = await verify();
    expect(verification).toMatchObject({
      agrees: true,
      state: 'completed',
      rows: 5,
      outcomes: {
        succeeded: 2,
        failed: 1,
        invalid: 1,
        duplicate: 1,
        skipped: 0,
        not_attempted: 0,
        pending: 0,
      },
    });
    const { digests } = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8'));
    const files = {
      'rows.jsonl': digests.rows,
      'journal.jsonl': digests.journal,
      'report.csv': digests.report,
    };
    expect(verification).toMatchObject({ digests: files });
    for (const [name, digest] of Object.entries(files))
      expect((await hashFile(join(folder, name))).sha256).toBe(digest);
  });

  test('is found wrong with a changed byte of its rows, journal or report, at every seventh place', async () => {
    const copies = await Promise.all(
      comparedFiles.map(async (name) => {
        const copy = `${folder}-${name}`;
        await cp(folder, copy, { recursive: true });
        return { name, copy };
      }),
    );
    await Promise.all(
      copies.map(async ({ name, copy }) => {
        const path = join(copy, name);
        const content = await readFile(path);
        for (let position = 0; position < content.length; position += 7) {
          const changed = Buffer.from(content);
          changed.writeUInt8(changed.readUInt8(position) ^ (1 << (position % 8)), position);
          await writeFile(path, changed);
          const verification = await verifyRun({ folder: copy, against: [] });
          expect(verification, `${name}, byte ${position}`).toMatchObject({ agrees: false });
        }
        await writeFile(path, content);
        expect(await verifyRun({ folder: copy, against: [] })).toMatchObject({ agrees: true });
      }),
    );
  });

  test('is found wrong without any of its files', async () => {
    for (const name of [...comparedFiles, 'run.json']) {
      await rename(join(folder, name), join(folder, '..', 'away'));
      expect(await problem(), name).toContain(name);
      await rename(join(folder, '..', 'away'), join(folder, name));
    }
    expect(await verify()).toMatchObject({ agrees: true });
  });

  test.each<[what: string, change: () => Promise<unknown>, problem: RegExp]>([
    [
      'a line of the report',
      () => edit('report.csv', '2,u,', '3,u,'),
      /^report\.csv: differs in line 3 \("cqbatch report \S+" makes the report again from rows\.jsonl and journal\.jsonl\)\.$/,
    ],
    [
      'a row without a result',
      () => edit('journal.jsonl', /\{"row":2.*\n/, ''),
      /journal\.jsonl.*(?:lost lines|rows have no result)/,
    ],
    [
      'a result of a row that is not called',
      async () => {
        await edit('journal.jsonl', '"row":5', '"row":4');
        await reportAgain();
      },
      /^journal\.jsonl: has a result of row 4, which is not called\.$/,
    ],
    [
      'other rows',
      () => edit('rows.jsonl', '"values":["2"', '"values":["3"'),
      /^rows\.jsonl: is not the file that run\.json names\.$/,
    ],
    [
      'other counts',
      async () => {
        await edit('run.json', '"failed": 1', '"failed": 0');
        await edit('run.json', '"succeeded": 2', '"succeeded": 3');
      },
      /^run\.json: counts other results than journal\.jsonl has\.$/,
    ],
    [
      'a report of another run that claims to have results of retries',
      async () => {
        await edit('report.csv', 'HTTP_500', 'HTTP_501');
        await edit('summary.json', '"retries": []', '"retries": ["two"]');
      },
      /^report\.csv: differs in line 6 \(.*; summary\.json says that it has the results of retries, too\)\.$/,
    ],
    ['a file that was put in', () => put('not-attempted.csv'), /^not-attempted\.csv: should not exist/],
  ])('with %s is found wrong, and what', async (_what, change, expected) => {
    await change();
    expect(await problem()).toMatch(expected);
  });

  test('that was forged as a whole does not have a digest from elsewhere', async () => {
    const verification = await verify();
    if (!verification.agrees) throw new TypeError(verification.problem);
    const { 'journal.jsonl': journal = '' } = verification.digests;
    expect(await verify([journal])).toMatchObject({ agrees: true });
    await edit('journal.jsonl', 'HTTP_500', 'HTTP_501');
    await reportAgain();
    expect(await verify()).toMatchObject({ agrees: true });
    expect(await verify([journal])).toEqual({
      agrees: false,
      problem: `No file of the run has the SHA-256 ${journal}.`,
    });
  });
});

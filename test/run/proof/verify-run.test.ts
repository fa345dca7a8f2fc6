import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import type { RowResult } from '../../../src/domain.ts';
import { createRun } from '../../../src/run/plan/create-run.ts';
import { type RunProof, verifyRun } from '../../../src/run/proof/verify-run.ts';
import { enterState } from '../../../src/run/record/record.ts';
import { openRunStore } from '../../../src/run/record/store.ts';
import { reportRun } from '../../../src/run/report/report-run.ts';
import { machineKey } from '../../../src/signature/machine-key.ts';
import type { PublicKey } from '../../../src/signature/public-key.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { leastOptions } from '../planned-record.ts';

let folder: string;
let keys: readonly PublicKey[];

/** A run of five rows that has ended: two called, one failed, an invalid one and a duplicate. */
beforeEach(async () => {
  const home = await temporaryFolder();
  await writeFile(join(home, 'rows.csv'), 'evaluation_id,user_id\n1,u\n2,u\n,u\n1,u\n5,u\n');
  const store = openRunStore(join(home, '.cqbatch'), operations);
  const options = { ...leastOptions, html: false as const };
  const { record: planned, journal } = await createRun(store, { source: join(home, 'rows.csv'), options });
  await journal.append([{ type: 'fed', first: 1, last: 5 }]);
  await journal.append([result(1), result(2)]);
  await journal.append([result(5, { outcome: 'failed', code: 'HTTP_500' }), { type: 'settled' }]);
  const record = {
    ...enterState(enterState(planned, 'running'), 'completed'),
    counts: { ...journal.outcomeCounts },
  };
  await store.save(record);
  await reportRun(store, record, journal);
  await journal.close();
  folder = store.folder(record.id);
  keys = [(await machineKey(store.stateDir)).publicKey];
});

function result(row: number, more: Partial<RowResult> = {}) {
  const called = { operation: 'restore-evaluation', message: '', attempts: 1, unclear: false };
  return { type: 'row', result: { row, outcome: 'succeeded', code: 'OK', ...called, ...more } } as const;
}

function verify(): Promise<RunProof> {
  return verifyRun({ folder, keys, operations });
}

async function problem(): Promise<string> {
  const proof = await verify();
  return proof.proved ? 'none' : proof.problem;
}

async function contentsOf(runFolder: string): Promise<ReadonlyMap<string, Buffer>> {
  const names = await readdir(runFolder);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(runFolder, name))] as const)),
  );
}

/** A file of the run with another content. */
interface Change {
  readonly name: string;
  readonly content: string | Buffer;
  readonly what: string;
}

/** Verifies with each change; several at once, because most of the time passes in waiting for files. */
async function expectAllFound(changes: Iterable<Change>): Promise<void> {
  const queue = changes[Symbol.iterator]();
  const verifyNext = async (copy: string): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const { name, content, what } = next.value;
      const path = join(copy, name);
      const before = await readFile(path);
      await writeFile(path, content);
      const proof = await verifyRun({ folder: copy, keys, operations });
      expect(proof, `${name}, ${what}`).toMatchObject({ proved: false });
      await writeFile(path, before);
    }
  };
  const copies = await Promise.all(
    Array.from({ length: 12 }, async (_, number) => {
      const copy = `${folder}-${number}`;
      await cp(folder, copy, { recursive: true });
      return copy;
    }),
  );
  await Promise.all(copies.map(verifyNext));
  for (const copy of copies)
    expect(await verifyRun({ folder: copy, keys, operations })).toMatchObject({ proved: true });
}

test('a run as it ended is proved', async () => {
  expect(await verify()).toMatchObject({
    proved: true,
    state: 'completed',
    rows: 5,
    outcomes: { succeeded: 2, failed: 1, invalid: 1, skipped: 0 },
    signer: keys[0]?.fingerprint,
    unchecked: [],
  });
});

describe('in each file of a run,', () => {
  test('every changed byte is found', async () => {
    const contents = await contentsOf(folder);
    await expectAllFound(
      [...contents].flatMap(([name, content]) =>
        Array.from(content, (byte, position) => {
          const changed = Buffer.from(content);
          changed.writeUInt8(byte ^ (1 << (position % 8)), position);
          return { name, content: changed, what: `byte ${position}` };
        }),
      ),
    );
  });

  test('every line that was cut, doubled or swapped is found', async () => {
    function* changesOf(name: string, text: string): Generator<Change> {
      const lines = text.split(/(?<=\n)/);
      // Swapping any two lines of a document would take longer and show no more.
      const reach = name.endsWith('.json') ? 1 : lines.length;
      for (const [one, line] of lines.entries()) {
        yield { name, content: lines.toSpliced(one, 1).join(''), what: `without line ${one}` };
        yield { name, content: lines.toSpliced(one, 0, line).join(''), what: `line ${one} twice` };
        for (const [other, text] of lines.slice(0, one + 1 + reach).entries()) {
          if (other <= one || line === text) continue;
          const content = lines.with(one, text).with(other, line).join('');
          yield { name, content, what: `lines ${one} and ${other}` };
        }
      }
    }
    const contents = await contentsOf(folder);
    const changes = [...contents].flatMap(([name, content]) => [...changesOf(name, content.toString())]);
    const isChange = ({ name, content }: Change) => contents.get(name)?.toString() !== content;
    await expectAllFound(changes.filter(isChange));
  });

  test('its absence is found', async () => {
    for (const name of await readdir(folder)) {
      await rename(join(folder, name), join(folder, '..', 'away'));
      expect(await problem(), name).toMatch(`${name}: is missing`);
      await rename(join(folder, '..', 'away'), join(folder, name));
    }
  });
});

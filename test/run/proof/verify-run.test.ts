import { cp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { attributed } from '../../../src/actor.ts';
import { noOutcomes, type RowResult } from '../../../src/domain.ts';
import { approvePlan } from '../../../src/run/plan/approvals.ts';
import { type ApprovedPlan, writeApprovedPlan } from '../../../src/run/plan/approved-plan.ts';
import { createRun } from '../../../src/run/plan/create-run.ts';
import { type RunProof, verifyRun } from '../../../src/run/proof/verify-run.ts';
import { enterState, type RunOptions } from '../../../src/run/record/record.ts';
import { openRunJournal } from '../../../src/run/record/run-journal.ts';
import { openRunStore } from '../../../src/run/record/store.ts';
import { reportRun, rewriteReport } from '../../../src/run/report/report-run.ts';
import { createKey, type SigningKey } from '../../../src/signature/key-file.ts';
import { machineKey } from '../../../src/signature/machine-key.ts';
import type { PublicKey } from '../../../src/signature/public-key.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { leastOptions } from '../planned-record.ts';

let folder: string;
let keys: readonly PublicKey[];
let approvers: readonly PublicKey[];

/** An approved run of five rows that has ended: two called, one failed, an invalid one and a duplicate. */
beforeEach(async () => {
  const home = await temporaryFolder();
  await writeFile(join(home, 'rows.csv'), 'evaluation_id,user_id\n1,u\n2,u\n,u\n1,u\n5,u\n');
  const store = openRunStore(join(home, '.cqbatch'), operations);
  const options = { ...leastOptions, html: false as const };
  const source = join(home, 'rows.csv');
  const approver = await createKey(join(home, 'ana.key'));
  const approved = await approvedPlan(source, options, approver);
  const attribution = attributed();
  const { record: planned, journal } = await createRun(store, { source, options, approved, attribution });
  await journal.append([{ type: 'fed', first: 1, last: 5 }]);
  await journal.append([result(1), result(2)]);
  await journal.append([result(5, { outcome: 'failed', code: 'HTTP_500' }), { type: 'settled' }]);
  const time = new Date().toISOString();
  const signers = [{ name: 'ana', key: approver.publicKey.fingerprint, at: time, until: time }];
  const record = {
    ...enterState(enterState(planned, 'running'), 'completed'),
    counts: { ...journal.outcomeCounts },
    ...(planned.approval && { approval: { ...planned.approval, signers } }),
  };
  await store.save(record);
  await reportRun(store, record, journal);
  await journal.close();
  folder = store.folder(record.id);
  keys = [(await machineKey(store.stateDir)).publicKey];
  approvers = [approver.publicKey];
});

async function approvedPlan(source: string, options: RunOptions, key: SigningKey): Promise<ApprovedPlan> {
  const counts = {
    rows: 5,
    callable: 3,
    invalid: 1,
    duplicates: 1,
    superseded: 0,
    partial: 0,
    doneBefore: 0,
    conflicts: 0,
  };
  const file = `${source}.cqplan`;
  const plan = await writeApprovedPlan(file, {
    ...{ source, options, counts, skip_invalid: true, allow_partial: true },
  });
  const by = { user: 'ana', host: 'desk', version: '1' };
  return { ...plan, approvals: await approvePlan(plan, key, { validMs: 60_000, by }) };
}

function result(row: number, more: Partial<RowResult> = {}) {
  const called = { operation: 'restore-evaluation', message: '', attempts: 1, unclear: false };
  return { type: 'row', result: { row, outcome: 'succeeded', code: 'OK', ...called, ...more } } as const;
}

/** Signs the files as they are now, as only the user of the machine can. */
async function signAgain(): Promise<void> {
  const stateDir = dirname(dirname(folder));
  const store = openRunStore(stateDir, operations);
  await rewriteReport(store, await store.load(basename(folder)));
}

function verify(): Promise<RunProof> {
  return verifyRun({ folder, keys, approvers, operations });
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
      const proof = await verifyRun({ folder: copy, keys, approvers, operations });
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
    expect(await verifyRun({ folder: copy, keys, approvers, operations })).toMatchObject({
      proved: true,
    });
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

describe('the first thing that is wrong is named:', () => {
  const edited = async (name: string, from: string | RegExp, to: string) => {
    const path = join(folder, name);
    await writeFile(path, (await readFile(path, 'utf8')).replace(from, to));
    return problem();
  };

  test('lines of the journal', async () => {
    expect(await edited('journal.jsonl', '"row":2', '"row":4')).toMatch(
      /journal\.jsonl:5: one of the lines 5 to 7 was/,
    );
  });

  test('the last lines of the journal', async () => {
    expect(await edited('journal.jsonl', 'HTTP_500', 'HTTP_501')).toMatch(
      /^journal\.jsonl: one of its last lines/,
    );
  });

  test('a line of the report', async () => {
    expect(await edited('report.csv', '2,u,', '3,u,')).toBe(
      'report.csv: differs in line 3 from what journal and manifest give.',
    );
  });

  test('a file that was put in', async () => {
    await writeFile(join(folder, 'not-attempted.csv'), '');
    expect(await problem()).toBe('not-attempted.csv: was put in after the run had ended.');
  });

  test('a statement of another key, and which', async () => {
    keys = approvers;
    expect(await problem()).toMatch(
      /was signed with the key SHA256:\S+, which is not known here: .* with --key FILE/,
    );
  });

  test('an approval that does not count', async () => {
    // Signed with the key of the machine, as if the user of the machine had removed the approval.
    const path = join(folder, 'approved.cqplan');
    const { approvals: _, ...plan } = JSON.parse(await readFile(path, 'utf8')) as { approvals: unknown };
    await writeFile(path, `${JSON.stringify(plan, null, 2)}\n`);
    await signAgain();
    expect(await problem()).toMatch(/^approved\.cqplan: the approval by ana does not count/);
  });

  test('a run of other rows than its plan', async () => {
    await edited('run.json', '"baseUrl": "http://127.0.0.1/"', '"baseUrl": "http://127.0.0.2/"');
    await signAgain();
    expect(await problem()).toBe('run.json: has another "baseUrl" than approved.cqplan.');
  });
});

describe('a journal that was edited after the run had ended', () => {
  const edits: readonly (readonly [string, (text: string) => string])[] = [
    ['in its last line', (text) => text.replace('HTTP_500', 'HTTP_501')],
    ['in an earlier line', (text) => text.replace('"row":2', '"row":4')],
    ['by removing its last line', (text) => text.replace(/[^\n]*\n$/, '')],
  ];

  test.each(edits)('%s is neither signed nor continued', async (_, edit) => {
    const path = join(folder, 'journal.jsonl');
    const statement = await readFile(join(folder, 'statement.json'), 'utf8');
    await writeFile(path, edit(await readFile(path, 'utf8')));
    const store = openRunStore(dirname(dirname(folder)), operations);
    const record = await store.load(basename(folder));
    await expect(openRunJournal(store, record)).rejects.toMatchObject({ code: 'JOURNAL_CORRUPT' });
    const { unsigned } = await rewriteReport(store, { ...record, counts: { ...noOutcomes() } });
    expect(unsigned).toMatch(/changed|removed/);
    expect(await readFile(join(folder, 'statement.json'), 'utf8')).toBe(statement);
    expect(await verify()).toMatchObject({ proved: false });
  });

  test('by a version that signs nothing is continued: it only appends', async () => {
    const path = join(folder, 'journal.jsonl');
    await writeFile(path, `${await readFile(path, 'utf8')}{"settled":true}\n`);
    const store = openRunStore(dirname(dirname(folder)), operations);
    const journal = await openRunJournal(store, await store.load(basename(folder)));
    await journal.append([{ type: 'settled' }]);
    await journal.close();
    expect(await problem()).toMatch(/^journal\.jsonl/);
    await signAgain();
    expect(await verify()).toMatchObject({ proved: true });
  });
});

describe('what is not checked is said:', () => {
  test('the approval by an unknown key', async () => {
    approvers = [];
    expect(await verify()).toMatchObject({
      proved: true,
      unchecked: [expect.stringMatching(/^The approval by ana was not checked: .*SHA256:.* with --key/)],
    });
  });

  test('a report that needs operations of the user', async () => {
    expect(await verifyRun({ folder, keys, approvers, operations: [] })).toMatchObject({
      proved: true,
      unchecked: [
        expect.stringMatching(/was not compared with the journal: pass --operations .*restore-evaluation/),
      ],
    });
  });
});

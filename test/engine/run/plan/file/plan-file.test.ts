import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { operations } from '../../../../../jobs/index.ts';
import { hashFile } from '../../../../../src/base/disk/hash-file.ts';
import type { Operation } from '../../../../../src/engine/operation/operation.ts';
import { requestDigest } from '../../../../../src/engine/operation/shown-request.ts';
import { writePlanFile } from '../../../../../src/engine/run/plan/file/plan-file.ts';
import { readPlanFile } from '../../../../../src/engine/run/plan/file/read-plan-file.ts';
import { temporaryFolder } from '../../../../helpers/temporary-folder.ts';
import { callable } from '../../../rows/decided-rows.ts';
import { writeRows } from '../../../rows/written-rows.ts';
import { planOptions, writePlan } from '../written-plan.ts';

const csv = [
  'operation,soundboard_id,title,description,old_title,evaluation_id,user_id,note',
  'update-soundboard,1,"the ""boss""\u2028",<clear>,was,,,x',
  'update-soundboard,1,another,,,,,',
  'update-soundboard,1,another,,,,,',
  'restore-evaluation,,,,,7,u-é😀,',
  'restore-evaluation,,,,,8,,',
  'nothing,1',
  '',
].join('\n');

async function written(content = csv) {
  const folder = await temporaryFolder();
  const manifest = join(folder, 'rows.csv');
  await writeFile(manifest, content);
  const file = join(folder, 'week.cqplan');
  const options = { ...planOptions, onConflict: 'in-order' as const };
  return { folder, file, ...(await writePlan(file, manifest, { options })) };
}

/** Reads a plan into a folder of its own. */
async function reading(file: string, maxBytes?: number, loaded: readonly Operation[] = operations) {
  const stateDir = await temporaryFolder();
  const copy = join(stateDir, 'rows.jsonl');
  return {
    stateDir,
    copy,
    plan: readPlanFile({ stateDir, operations: loaded }, file, copy, { ...(maxBytes && { maxBytes }) }),
  };
}

const textIn = async (file: string) => gunzipSync(await readFile(file)).toString('utf8');

describe('a plan', () => {
  test('is read back as it was written, and its rows are those of the run, to the byte', async () => {
    const { file, plan, rows, planned } = await written();
    const { copy, plan: pending } = await reading(file);
    const { planned: again, path, ...read } = await pending;
    expect(read).toEqual(plan);
    expect(path).toBe(copy);
    expect(await readFile(copy)).toEqual(await readFile(rows));
    expect(await textIn(file)).toBe(await readFile(rows, 'utf8'));
    expect(plan.sha256).toBe((await hashFile(file)).sha256);
    expect(again).toMatchObject({ digest: planned.digest, head: planned.head, choice: planned.choice });
    const { firstConflicts: _, roundedIds: __, choice: ___, preview, warnings, ...facts } = planned.scan;
    expect(again.scan).toMatchObject(facts);
    expect(again.scan.warnings).toEqual(warnings.map(({ code, message }) => ({ code, message })));
    expect(again.scan.preview.map(({ requestDigest }) => requestDigest)).toEqual(
      preview.map(({ requestDigest }) => requestDigest),
    );
    expect(again.problems).toMatchObject({
      count: planned.problems.count,
      firstProblems: planned.problems.firstProblems,
    });
    expect(facts).toMatchObject({ rows: 6, callable: 3, invalid: 2, duplicates: 1, conflicts: 1 });
  });

  test('may be that of a retry, whose rows have other numbers and may have been called', async () => {
    const folder = await temporaryFolder();
    const [rows, file] = [join(folder, 'rows.jsonl'), join(folder, 'retry.cqplan')];
    const facts = {
      derived: { as: 'retry' as const, of: 'monday' },
      options: JSON.parse(JSON.stringify(planOptions)),
      consent: { skip_invalid: false, allow_partial: true },
    };
    const [operation] = operations;
    const values = { evaluation_id: '7', user_id: 'u' };
    const call = { ...callable, operation, values, requestDigest: requestDigest(operation.request(values)) };
    const written = await writeRows(
      rows,
      [4, 9].map((row) => ({ ...call, row, line: row, ...(row === 9 && { unclear: true as const }) })),
      facts,
    );
    const plan = await writePlanFile(file, rows, written);
    const read = await (await reading(file)).plan;
    expect(read).toMatchObject({ ...plan, head: { renumbered: true, derived: facts.derived } });
    expect(read.planned.unclear).toEqual([2]);
  });

  test('is for its owner only, and never replaced', async () => {
    const { file, rows, planned } = await written();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const before = await readFile(file);
    await expect(writePlanFile(file, rows, planned)).rejects.toMatchObject({
      kind: 'usage',
      code: 'PLAN_EXISTS',
      message: `${file} already exists: remove it, or choose another name.`,
    });
    expect(await readFile(file)).toEqual(before);
  });

  test('that is missing is a usage error, like a missing manifest', async () => {
    const { plan } = await reading('/none/x.cqplan');
    const message = '/none/x.cqplan: there is no such file';
    await expect(plan).rejects.toMatchObject({ kind: 'usage', code: 'PLAN_NOT_FOUND', message });
  });
});

/** Refused for what is changed in it, or another plan with another digest. */
async function expectOther(file: string, sha256: string): Promise<void> {
  const { stateDir, plan } = await reading(file);
  const read = await plan.catch((error: unknown) => error);
  if (!(read instanceof Error)) return expect(read).not.toMatchObject({ sha256 });
  expect(read).toMatchObject({
    kind: 'usage',
    code: expect.stringMatching(/^(PLAN_(CHANGED|UNREADABLE)|OPERATION_MISSING|REQUEST_CHANGED)$/),
    message: expect.stringContaining('week.cqplan'),
  });
  expect(await readdir(stateDir)).not.toContain('rows.jsonl.part');
}

describe('a changed plan', () => {
  test('is refused or another plan, whatever character of its content was changed', async () => {
    const { file, plan } = await written();
    const text = await textIn(file);
    const put = fc.constantFrom('0', '7', 'x', '"', ' ', '}', '\n', '', '{}\n');
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 1), put, async (at, put) => {
        const changed = text.slice(0, at) + put + text.slice(at + 1);
        fc.pre(changed !== text);
        await writeFile(file, gzipSync(changed));
        await expectOther(file, plan.sha256);
      }),
      { numRuns: 40 },
    );
  });

  test('is refused or has the same content, whatever byte of its file was changed', async () => {
    const { file, rows } = await written();
    const bytes = await readFile(file);
    const content = await readFile(rows);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] as number) ^ bits;
        await writeFile(file, changed);
        const { copy, plan: pending } = await reading(file);
        const read = await pending.catch((error: unknown) => error);
        if (read instanceof Error)
          expect(read).toMatchObject({ kind: 'usage', code: expect.stringMatching(/^PLAN_/) });
        else {
          expect(read).toMatchObject({ sha256: (await hashFile(file)).sha256 });
          expect(await readFile(copy)).toEqual(content);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('that is cut anywhere is refused', async () => {
    const { file } = await written();
    const bytes = await readFile(file);
    for (const length of [0, 1, 10, 100, bytes.length - 9, bytes.length - 8, bytes.length - 1]) {
      await writeFile(file, bytes.subarray(0, length));
      await expect((await reading(file)).plan).rejects.toMatchObject({ code: 'PLAN_UNREADABLE' });
    }
  });

  const inHead =
    (place: string, value: unknown) =>
    ([line = '', ...rows]: string[]) => {
      const head = JSON.parse(line);
      const [last = '', ...above] = place.split('.').toReversed();
      above.reduceRight((part, name) => part[name], head)[last] = value;
      return [JSON.stringify(head), ...rows];
    };
  const inRow = (row: number, members: object) => (lines: string[]) =>
    lines.with(row, JSON.stringify({ ...JSON.parse(lines[row] ?? ''), ...members }));
  const counts = { rows: 0, callable: 0, invalid: 0, duplicates: 0, superseded: 0 };
  const noOperation = {
    name: 'delete',
    thing: 'entry',
    subject: 'id',
    fields: [],
    columns: [],
    effects: {},
    counts: { ...counts, doneBefore: 0, asWanted: 0, conflicts: 0, partial: 0 },
  };

  async function expectRefused(
    change: (lines: string[]) => readonly string[],
    code: string,
    message: RegExp,
  ) {
    const { file } = await written();
    const lines = (await textIn(file)).slice(0, -1).split('\n');
    await writeFile(file, gzipSync(`${change(lines).join('\n')}\n`));
    const { plan, stateDir } = await reading(file);
    await expect(plan).rejects.toMatchObject({ kind: 'usage', code });
    await expect(plan).rejects.toThrow(message);
    expect(await readdir(stateDir)).not.toContain('rows.jsonl.part');
  }

  test.each<[what: string, change: (lines: string[]) => readonly string[]]>([
    ['a lying count', inHead('counts.callable', 1)],
    ['a lying count of an operation', inHead('operations.0.counts.callable', 1)],
    ['a lying count of cleared fields', inHead('operations.0.effects.description.cleared', 0)],
    ['an operation that no row has', inHead('operations.2', { ...noOperation, name: 'restore-evaluation' })],
    ['another block', inHead('blocks.0', 1)],
    ['rows that it calls renumbered', inHead('renumbered', true)],
    ['blanks', (lines) => lines.map((line) => line.replace('{', '{ '))],
    ['a row less', (lines) => lines.toSpliced(2, 1)],
    ['two rows exchanged', ([head = '', a = '', b = '', ...more]) => [head, b, a, ...more]],
    ['an unknown member in a row', inRow(1, { more: 1 })],
    ['a request of its own', inRow(1, { method: 'DELETE', path: '/api', body: '{}' })],
    ['an operation that calls its entries otherwise', inHead('operations.0.thing', 'evaluation')],
    ['an operation with another identifier', inHead('operations.0.subject', 'title')],
  ])('with %s is refused, as it may not do what it says', async (_what, change) => {
    const isOther =
      /^\S+week\.cqplan is not as "cqbatch plan --out" writes it with the operations that are loaded, so it may not do what it says: /;
    await expectRefused(change, 'PLAN_CHANGED', isOther);
  });

  const unknownOption = /week\.cqplan has an option that this version of cqbatch does not know \(.*/;
  const badAddress = /week\.cqplan has an address that is not written as cqbatch writes it: /;
  const noConsent =
    /week\.cqplan does not say what was accepted: make one with "cqbatch plan MANIFEST --out NAME\.cqplan"\.$/;

  test.each<[place: string, value: unknown, message: RegExp]>([
    ['more', 1, /is not a plan of this version of cqbatch \(.*"more"/],
    ['rows_version', 3, /has version 3, which this version of cqbatch does not read/],
    ['options.force', true, new RegExp(`${unknownOption.source}"force"`)],
    ['options.attempts', 'many', new RegExp(`${unknownOption.source}attempts: `)],
    ['consent', undefined, noConsent],
    ['options.baseUrl', `${planOptions.baseUrl}/`, badAddress],
    // The token would go unencrypted.
    ['options.baseUrl', 'http://api.example.com', badAddress],
    ['options.baseUrl', 'file:///etc/passwd', badAddress],
    ['source.format', 'csv\n\nReady: 1 call.', /has a text with control characters \(csv\\n/],
    ['columns.0.field', 'operation\n', /has a text with control characters/],
  ])('whose head says %s: %j is refused', async (place, value, message) => {
    await expectRefused(inHead(place, value), 'PLAN_UNREADABLE', message);
  });

  test.each<[place: number, members: object, message: RegExp]>([
    [2, { request: undefined }, /week\.cqplan has a line 3 that is not a row: make one with/],
  ])('whose row %d has %j is refused', async (row, members, message) => {
    await expectRefused(inRow(row, members), 'PLAN_UNREADABLE', message);
  });

  test.each<[what: string, bytes: string | Buffer, message: RegExp]>([
    ['is empty', '', /week\.cqplan is (?:empty|not a plan)/],
    ['is a manifest', csv, /week\.cqplan is not a plan \(incorrect header check\): make one with/],
    ['has an empty content', gzipSync(''), /week\.cqplan is empty: make one with/],
    ['has a manifest as its content', gzipSync(csv), /its first line is not JSON/],
    ['has a list as its content', gzipSync('[]\n'), /its first line is not a head/],
  ])('that %s is refused', async (_what, bytes, message) => {
    const { file } = await written();
    await writeFile(file, bytes);
    const { plan } = await reading(file);
    await expect(plan).rejects.toMatchObject({ kind: 'usage', code: 'PLAN_UNREADABLE' });
    await expect(plan).rejects.toThrow(message);
  });

  test.each<[what: string, members: (row: { readonly values: readonly string[] }) => object]>([
    ['another entry than the one that was reviewed', ({ values }) => ({ values: values.with(0, '2') })],
    ['another digest', () => ({ request: 'x'.repeat(22) })],
  ])('whose row names %s is refused: what is shown is what is sent', async (_what, members) => {
    await expectRefused(
      (lines) => inRow(1, members(JSON.parse(lines[1] ?? '')))(lines),
      'REQUEST_CHANGED',
      /The operation update-soundboard makes another request of row 1 than the one that the plan showed, so it is not sent\. Use the version/,
    );
  });

  test('of an operation that is not loaded is refused', async () => {
    const { file } = await written();
    await expect((await reading(file, undefined, [])).plan).rejects.toMatchObject({
      code: 'OPERATION_MISSING',
      message: expect.stringContaining(
        'week.cqplan: The operation update-soundboard is not loaded: pass --operations',
      ),
    });
  });

  test('of a larger manifest than is allowed is refused', async () => {
    const { file, plan } = await written();
    const { bytes } = plan.head.source;
    await expect((await reading(file, bytes)).plan).resolves.toMatchObject({ head: plan.head });
    await expect((await reading(file, bytes - 1)).plan).rejects.toMatchObject({
      code: 'PLAN_UNREADABLE',
      message: expect.stringContaining('was made of a larger manifest than max_manifest_size allows'),
    });
  });

  test('with more than its head says is refused before it fills the disk', async () => {
    const { file } = await written();
    const bomb = gzipSync(`${await textIn(file)}${' '.repeat(5_000_000)}`);
    expect(bomb.length).toBeLessThan(100_000);
    await writeFile(file, bomb);
    const { plan, stateDir } = await reading(file);
    await expect(plan).rejects.toMatchObject({
      code: 'PLAN_UNREADABLE',
      message: expect.stringContaining('unpacks to more bytes than its first line says'),
    });
    expect(await readdir(stateDir)).not.toContain('rows.jsonl');
  });
});

test('a disk that takes no copy of a plan is not a fault of the plan', async () => {
  const rows = Array.from({ length: 3_000 }, (_, index) => `${index + 1},u`);
  const { file } = await written(`evaluation_id,user_id\n${rows.join('\n')}\n`);
  const stateDir = await temporaryFolder();
  const copy = join(stateDir, 'gone', 'rows.jsonl');
  await expect(readPlanFile({ stateDir, operations }, file, copy)).rejects.toMatchObject({
    kind: 'fatal',
    code: 'FILE_MISSING',
  });
});

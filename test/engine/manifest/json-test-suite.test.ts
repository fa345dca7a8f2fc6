import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import { CqbatchError } from '../../../src/base/errors/errors.ts';
import { stringifyJson } from '../../../src/base/text/json.ts';
import { scanManifest } from '../../../src/engine/manifest/check/scan.ts';
import { formatProblem } from '../../../src/engine/rows/problem.ts';
import { openPlannedManifest } from '../../../src/engine/run/plan/open-manifest.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const suite = fileURLToPath(new URL('../../fixtures/json-test-suite/test_parsing', import.meta.url));
const names = readdirSync(suite);

/** The result of planning one manifest: an error of the file, or its rows. */
type Planned =
  | { readonly error: CqbatchError }
  | { readonly cells: readonly unknown[]; readonly callable: number; readonly problems: readonly string[] };

/** Plans as `cqbatch plan --operation restore-evaluation` does. Any error that users would not be told about fails the test. */
async function plan(folder: string, name: string, content: Buffer): Promise<Planned> {
  const path = join(folder, name);
  await writeFile(path, content);
  try {
    const options = { clearToken: '<clear>', operation: 'restore-evaluation' };
    const { manifest, prepare } = await openPlannedManifest(path, name, options, { operations });
    const problems: string[] = [];
    const { callable } = await scanManifest(manifest, prepare, {
      onInvalid: (row) => void problems.push(...row.problems.map((each) => formatProblem(name, row, each))),
    });
    const cells: unknown[] = [];
    for await (const rows of manifest.rows()) cells.push(...rows.map((row) => row.cells));
    return { cells, callable, problems };
  } catch (error) {
    if (error instanceof CqbatchError && error.kind === 'usage') return { error };
    throw error;
  }
}

const row = '{"evaluation_id":1,"user_id":"u","note":';

/** Texts around a file of the suite, which make it the value of a cell. */
const cellForms = [
  ['in a row of an array', 'a.json', `[${row}`, '}]'],
  ['in JSON Lines', 'a.jsonl', row, '}\n{"evaluation_id":2,"user_id":"u"}\n'],
] as const;

/** JSON with a repeated name: every parser accepts it, but a manifest must not have it. */
const repeating = ['y_object_duplicated_key.json', 'y_object_duplicated_key_and_value.json'];
const acceptable = names.filter((each) => each.startsWith('y_') && !repeating.includes(each));
const broken = names.filter((each) => each.startsWith('n_'));
const undecided = names.filter((each) => each.startsWith('i_'));

test('the suite is complete', () => {
  expect([acceptable.length, repeating.length, broken.length, undecided.length]).toEqual([93, 2, 188, 35]);
});

const contentOf = (each: string): Buffer => readFileSync(join(suite, each));
const hasLineEnd = (bytes: Buffer): boolean => bytes.includes(0x0a) || bytes.includes(0x0d);

/** The value as JSON text: -0 is 0, and numbers that differ in digits beyond those of JavaScript are equal. */
const textOf = (text: string): string => JSON.stringify(JSON.parse(text));

/** Expects that a file is refused for a mistake in its text, and where. */
function expectLocated(each: string, planned: Planned): void {
  if ('error' in planned) {
    expect([each, planned.error.code, planned.error.message]).toEqual([
      each,
      expect.stringMatching(/^MANIFEST_(SYNTAX|NOT_UTF8|BINARY)$/),
      expect.stringMatching(/^a\.jsonl?:\d+:\d+: /),
    ]);
  } else {
    expect([each, ...planned.problems]).toContainEqual(
      expect.stringMatching(/^a\.jsonl?:\d+: row \d+: is not JSON: .* \(character \d+ of the line\)/),
    );
  }
}

describe.each(cellForms)('as the value of a cell %s', (_form, name, before, after) => {
  const manifest = (bytes: Buffer) => Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
  const isLines = name === 'a.jsonl';

  test('valid JSON is accepted, exactly', async () => {
    const folder = await temporaryFolder();
    for (const each of acceptable) {
      const bytes = contentOf(each);
      if (isLines && hasLineEnd(bytes)) continue;
      const planned = await plan(folder, name, manifest(bytes));
      if ('error' in planned) throw new Error(each, { cause: planned.error });
      expect([each, planned.callable, ...planned.problems]).toEqual([each, isLines ? 2 : 1]);
      const { note } = planned.cells[0] as { note: unknown };
      expect([each, textOf(stringifyJson(note))]).toEqual([each, textOf(bytes.toString('utf8'))]);
    }
  });

  test('invalid JSON is refused at its mistake', async () => {
    const folder = await temporaryFolder();
    for (const each of broken) expectLocated(each, await plan(folder, name, manifest(contentOf(each))));
  });

  test('a repeated name is refused, and everything else is accepted or reported', async () => {
    const folder = await temporaryFolder();
    for (const each of repeating) {
      const planned = await plan(folder, name, manifest(contentOf(each)));
      const told = 'error' in planned ? [planned.error.message] : planned.problems;
      expect([each, ...told]).toEqual([
        each,
        expect.stringMatching(/^a\.jsonl?:.* "a" appears twice in this object; keep one of them/),
      ]);
    }
    for (const each of undecided) {
      const planned = await plan(folder, name, manifest(contentOf(each)));
      if ('error' in planned) expectLocated(each, planned);
    }
  });
});

describe('as a whole file', () => {
  const withoutRows =
    /: (a JSON manifest must begin with|the manifest has no rows|this object has no array "rows")/;

  test('valid JSON is read as rows, or reported to have no rows', async () => {
    const folder = await temporaryFolder();
    for (const each of acceptable) {
      const bytes = contentOf(each);
      const value: unknown = JSON.parse(bytes.toString('utf8'));
      const planned = await plan(folder, 'a.json', bytes);
      if ('error' in planned) {
        expect([each, planned.error.message]).toEqual([each, expect.stringMatching(withoutRows)]);
        continue;
      }
      const rows: readonly unknown[] = Array.isArray(value) ? value : [value];
      expect([each, planned.cells.length]).toEqual([each, rows.length]);
      expect([each, planned.problems.filter((problem) => problem.includes('JSON:'))]).toEqual([each, []]);
      for (const [index, row] of rows.entries()) {
        const isRow = typeof row === 'object' && row !== null && !Array.isArray(row);
        expect([each, textOf(stringifyJson(planned.cells[index]))]).toEqual([
          each,
          isRow ? JSON.stringify(row) : '{}',
        ]);
      }
    }
  });

  test('invalid JSON is refused at its mistake, unless it is empty, and other JSON is accepted or reported', async () => {
    const folder = await temporaryFolder();
    const blank = ['n_single_space.json', 'n_structure_UTF8_BOM_no_data.json', 'n_structure_no_data.json'];
    for (const each of broken) {
      const planned = await plan(folder, 'a.json', contentOf(each));
      if (blank.includes(each)) expect(planned).toMatchObject({ error: { code: 'MANIFEST_EMPTY' } });
      else expectLocated(each, planned);
    }
    // An error that users would not be told about fails the test.
    for (const each of [...repeating, ...undecided]) await plan(folder, 'a.json', contentOf(each));
  });
});

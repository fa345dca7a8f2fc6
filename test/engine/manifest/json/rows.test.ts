import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringifyJson } from '../../../../src/base/text/json.ts';
import { readWhole } from '../../../../src/engine/manifest/json/document.ts';
import { ColumnList, readJsonLines, readJsonRows } from '../../../../src/engine/manifest/json/rows.ts';
import { readWrapper } from '../../../../src/engine/manifest/json/wrapper.ts';
import type { UnnumberedRow } from '../../../../src/engine/manifest/manifest.ts';
import { TextMistake } from '../../../../src/engine/manifest/text/mistake.ts';
import { checkUtf8 } from '../../../../src/engine/manifest/text/source.ts';
import { anyJson, spoiltJson } from '../../../json-texts.ts';
import { flat, inChunks } from '../reading.ts';

const place = { offset: 0 };
const chunkSize = fc.integer({ min: 1, max: 40 });
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
/** Half a surrogate pair, which spoiling may leave, is not UTF-8. */
const element = fc.oneof(anyJson, spoiltJson).map((text) => Buffer.from(text).toString());

function chunksOf(text: string, size: number): AsyncIterable<Buffer> {
  return checkUtf8(inChunks(Buffer.from(text), size));
}

/** The rows of a reading, or the mistake that it ends with. */
async function outcome(
  reading: AsyncIterable<readonly UnnumberedRow[]>,
): Promise<readonly UnnumberedRow[] | TextMistake> {
  try {
    return await flat(reading);
  } catch (error) {
    if (error instanceof TextMistake) return error;
    throw error;
  }
}

/** The result of JSON.parse, or undefined when it refuses the text. */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Expects that rows have the values that JSON.parse reads, except the columns that begin with `_`. */
function expectRows(rows: readonly UnnumberedRow[], values: readonly unknown[]): void {
  expect(rows).toHaveLength(values.length);
  for (const [index, value] of values.entries()) {
    const { cells, problem } = rows[index] as UnnumberedRow;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const own = Object.entries(value).filter(([name]) => !name.startsWith('_'));
      expect(problem).toBeUndefined();
      const read = Object.entries(cells).map(([name, cell]) => [name, JSON.parse(stringifyJson(cell))]);
      expect(JSON.stringify(read)).toBe(JSON.stringify(own));
    } else {
      expect(problem?.problem).toMatch(/^is not a JSON object/);
    }
  }
}

const isRepeated = (found: unknown): boolean =>
  found instanceof TextMistake && found.code === 'MANIFEST_REPEATED_NAME';

test('an array is accepted when JSON.parse accepts it, with the same rows, wherever chunks end', async () => {
  const seen = { accepted: 0, refused: 0, repeated: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(element, { maxLength: 4 }), chunkSize, async (elements, size) => {
      const text = `[${elements.join(',')}]`;
      const expected = parsed(text);
      const found = await outcome(
        readJsonRows(
          await readWhole(chunksOf(text, size)),
          { outer: 'array', ...place },
          new ColumnList('a'),
        ),
      );
      if (isRepeated(found)) {
        seen.repeated++;
      } else if (expected === undefined) {
        expect(found).toMatchObject({ code: 'MANIFEST_SYNTAX', at: expect.any(Number) });
        seen.refused++;
      } else {
        expectRows(found as readonly UnnumberedRow[], expected.value as readonly unknown[]);
        seen.accepted++;
      }
    }),
    { numRuns: 1000 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(2);
});

test('a line is accepted when JSON.parse accepts it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(element, { minLength: 1, maxLength: 4 }),
      lineEnd,
      chunkSize,
      async (texts, end, size) => {
        const lines = texts.map((text) => text.replace(/[\r\n]/g, ' ')).filter((text) => /\S/.test(text));
        const reading = readJsonLines(chunksOf(lines.join(end), size), new ColumnList('a'));
        const rows = (await outcome(reading)) as readonly UnnumberedRow[];
        expect(rows).toHaveLength(lines.length);
        for (const [index, line] of lines.entries()) {
          const row = rows[index] as UnnumberedRow;
          const expected = parsed(line);
          if (expected === undefined)
            expect(row.problem?.problem).toMatch(/^(?:is not JSON: |has another object )/);
          else if (!/ appears twice /.test(row.problem?.problem ?? '')) expectRows([row], [expected.value]);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('an object with rows is accepted only when JSON.parse accepts it, with the same rows and defaults', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(element, element, chunkSize, async (row, byDefault, size) => {
      const text = `{"defaults":{"a":${byDefault}},"rows":[${row}]}`;
      const expected = parsed(text) as { readonly value: Record<string, never> } | undefined;
      const bytes = await readWhole(chunksOf(text, size));
      const facts = await Promise.resolve()
        .then(() => readWrapper(bytes, place))
        .catch((error: unknown) => error);
      const rows = await outcome(readJsonRows(bytes, { outer: 'object', ...place }, new ColumnList('a')));
      if (facts === undefined) {
        // Taken for JSON Lines.
        expect(Array.isArray(expected?.value['rows'])).toBe(false);
        return;
      }
      if (facts instanceof TextMistake || rows instanceof TextMistake) {
        if (expected === undefined || isRepeated(facts) || isRepeated(rows)) return;
        // A spoilt value may close its object and begin another member.
        expect(JSON.stringify(Object.keys(expected.value))).not.toBe('["defaults","rows"]');
        return;
      }
      expect(expected).toBeDefined();
      expectRows(rows, expected?.value['rows'] as unknown as readonly unknown[]);
      accepted++;
    }),
    { numRuns: 500 },
  );
  expect(accepted).toBeGreaterThan(30);
});

import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvText, delimiters } from '../../../src/base/text/delimiter.ts';
import { anyCharacter } from '../../any-character.ts';

const anyCell = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom(...`",;\n\r \t\0\ufeff\u2028'=a`) }),
);

/** Records of two cells or more: one empty cell would be an empty line. */
const anyRecords = fc.array(fc.array(anyCell, { minLength: 2, maxLength: 5 }), { maxLength: 5 });

test('other programs read back any text', () => {
  fc.assert(
    fc.property(anyRecords, fc.constantFrom(...delimiters), (records, delimiter) => {
      const read = { delimiter, relaxColumnCount: true, recordDelimiter: '\n' };
      expect(parse(csvText(records, delimiter), read)).toEqual(records);
    }),
    { numRuns: 300 },
  );
});

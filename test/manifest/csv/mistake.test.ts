import { CsvError } from 'csv-parse';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { delimiters } from '../../../src/manifest/csv/delimiter.ts';
import { findCsvMistake } from '../../../src/manifest/csv/mistake.ts';
import { readCsvRecords } from '../../../src/manifest/csv/records.ts';
import { checkUtf8 } from '../../../src/manifest/text/utf8.ts';
import { inChunks } from '../reading.ts';

/** No NUL: csv-parse takes it for the end of the text behind a closing quote. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('"', '"', '""', ...delimiters, '\n', '\r\n', '\r') },
  { weight: 2, arbitrary: fc.constantFrom('"a"', '"",', '"\n"', '"a""b",', '\n"', '",') },
  { weight: 2, arbitrary: fc.constantFrom('a', 'bcd', 'é', '🙂', ' ', '\ufeff', '\u2028', "'", '\\') },
);

test('a mistake is found in all text that csv-parse refuses, wherever chunks end, and in no other', async () => {
  const seen = { accepted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join('')),
      fc.constantFrom(...delimiters),
      fc.integer({ min: 1, max: 9 }),
      async (text, delimiter, chunkSize) => {
        const chunks = () => checkUtf8(inChunks(Buffer.from(text), chunkSize));
        const mistake = await findCsvMistake(chunks(), delimiter);
        const reading = (async () => {
          for await (const _ of readCsvRecords(chunks(), delimiter, 1_000_000));
        })();
        if (mistake === undefined) await reading;
        else await expect(reading).rejects.toBeInstanceOf(CsvError);
        seen[mistake === undefined ? 'accepted' : 'refused']++;
      },
    ),
    { numRuns: 1000 },
  );
  expect(seen.accepted).toBeGreaterThan(100);
  expect(seen.refused).toBeGreaterThan(100);
});

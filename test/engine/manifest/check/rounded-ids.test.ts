import fc from 'fast-check';
import { expect, test } from 'vitest';
import { watchedForRounding } from '../../../../src/engine/manifest/check/rounded-ids.ts';
import { testOperations } from '../operations.ts';
import { allRows, openText } from '../reading.ts';

/** What is found in a manifest of this name after all its rows were read. */
async function found(name: string, content: string, map?: Record<string, string>) {
  const manifest = watchedForRounding(await openText(name, content), testOperations, map);
  await allRows(manifest);
  return manifest.roundedIds?.();
}

const csvOf = (ids: readonly unknown[]) => `ticket_id,user_id\n${ids.map((id) => `${id},u\n`).join('')}`;
const linesOf = (ids: readonly unknown[]) => ids.map((id) => `{"ticket_id":${id},"user_id":"u"}\n`).join('');

/** Whole numbers of 16 to 19 digits, within 64 bits, all of one length. */
const idsOf = (count: number) =>
  fc.integer({ min: 16, max: 19 }).chain((length) =>
    fc.uniqueArray(
      fc.bigInt({
        min: 10n ** BigInt(length - 1),
        max: length === 19 ? 2n ** 63n - 1n : 10n ** BigInt(length) - 1n,
      }),
      { minLength: count, maxLength: count },
    ),
  );

/** As a program writes a number of which it keeps this number of digits. */
const inDigits = (kept: number) => (id: bigint) => {
  const digits = Number(id)
    .toPrecision(kept)
    .replace(/\.|e.*/g, '');
  const { length } = String(id);
  return BigInt(digits.padEnd(length, '0').slice(0, length));
};
/** As JavaScript writes it. */
const inDouble = (id: bigint) => BigInt(String(Number(id)));

test('identifiers that a spreadsheet rounded are always found, in text and JSON', async () => {
  await fc.assert(
    fc.asyncProperty(idsOf(7), async (ids) => {
      const rounded = ids.map(inDigits(15)).filter((id) => String(id).length <= 19);
      fc.pre(new Set(rounded).size >= 6);
      expect(await found('a.csv', csvOf(rounded))).toMatchObject([
        { column: 'ticket_id', ids: rounded.length, by: expect.stringContaining('a spreadsheet') },
      ]);
      expect(await found('a.jsonl', linesOf(rounded))).toHaveLength(1);
      expect(await found('a.jsonl', linesOf(rounded.map((id) => `"${id}"`)))).toHaveLength(1);
    }),
  );
});

test.each<[string, (id: bigint) => bigint]>([
  ['JavaScript', inDouble],
  ['jq', inDigits(17)],
])('identifiers of 18 and 19 digits that %s rounded are always found', async (_, rounding) => {
  await fc.assert(
    fc.asyncProperty(idsOf(7), async (ids) => {
      fc.pre(String(ids[0]).length > 17);
      const rounded = ids.map(rounding);
      fc.pre(new Set(rounded).size >= 6);
      expect(await found('a.jsonl', linesOf(rounded))).toHaveLength(1);
    }),
  );
});

test('identifiers that were not rounded are not found, however few or many', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }).chain(idsOf), async (ids) => {
      expect(await found('a.csv', csvOf(ids))).toEqual([]);
    }),
  );
});

const rounded = Array.from({ length: 40 }, (_, index) => 9_912_140_635_496_190n + BigInt(index) * 130n);

test.each<[what: string, ids: readonly unknown[], isFound: boolean]>([
  ['six of 16 digits that end in 0', rounded.slice(0, 6), true],
  ['five of them', rounded.slice(0, 5), false],
  ['forty of them, and one that does not', [...rounded, 9_912_140_635_496_191n], false],
  ['with zeros and blanks before', rounded.map((id) => ` 00${id} `), true],
  ['two of 19 digits that end in 0000', [3_356_064_425_258_410_000n, 4_306_906_422_018_940_000n], true],
  ['two of 19 digits that end in 000', [3_356_064_425_258_417_000n, 4_306_906_422_018_949_000n], false],
  ['17 digits, some of which JavaScript keeps', [12_345_678_901_234_568n, 12_345_678_901_234_560n], false],
])('%s: found or not', async (_, ids, isFound) => {
  expect(await found('a.csv', csvOf(ids))).toHaveLength(isFound ? 1 : 0);
});

test('each identifying column is watched, also by its title in --map, and no text', async () => {
  const rows = rounded.map((id) => `${id},${id},${id},${id}\n`).join('');
  const columns = await found('a.csv', `Ticket,user_id,title,note\n${rows}`, { Ticket: 'ticket_id' });
  expect(columns?.map(({ column }) => column)).toEqual(['Ticket', 'user_id']);
});

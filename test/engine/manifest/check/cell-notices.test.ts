import { expect, test } from 'vitest';
import { scanManifest } from '../../../../src/engine/manifest/check/scan.ts';
import { createRowPreparer } from '../../../../src/engine/manifest/columns/row-preparer.ts';
import { testOperations } from '../operations.ts';
import { openText } from '../reading.ts';

/** The warnings of a plan. */
async function warningsOf(name: string, content: string) {
  const manifest = await openText(name, content);
  const preparer = createRowPreparer({ manifest, operations: testOperations });
  return (await scanManifest(manifest, preparer)).warnings.map(({ message }) => message);
}

test('words for nothing are counted by field, however they are written', async () => {
  const rows = ['1,NULL,x', '2,NULL,NaN', '3,NULL,Nullable', '4,good,None of them', 'x,NULL,bad'];
  expect(await warningsOf('a.csv', `room_id,title,floor\n${rows.join('\n')}\n`)).toEqual([
    '3 cells of title are `NULL`: sent as they are; if that means nothing, empty the cell',
    '1 cell of floor is `NaN`: sent as it is; if that means nothing, empty the cell',
  ]);
});

const words = 'NULL null \\N nan None undefined N/A n/a NaT (null) [NULL] <NA> nil'.split(' ');

test('no more than five words are named', async () => {
  const rows = words.map((word, index) => `${index},${word}\n`).join('');
  expect(await warningsOf('a.csv', `room_id,title\n${rows}`)).toEqual([
    expect.stringContaining(
      '13 cells of title are `NULL`, `null`, `\\N`, `nan`, `None`, …: sent as they are',
    ),
  ]);
});

test('characters that were lost before are counted in each column, also in one that is not sent', async () => {
  const rows = ['1,Gr\ufffd\ufffde,ok', '2,M\ufffdnchen,\ufffd', '3,Größe,ok'];
  expect(await warningsOf('a.csv', `room_id,title,note\n${rows.join('\n')}\n`)).toEqual([
    expect.stringContaining('2 cells of title have the character \ufffd (U+FFFD)'),
    expect.stringContaining('1 cell of note has the character \ufffd (U+FFFD)'),
  ]);
});

import { expect, test } from 'vitest';
import { detectDelimiter } from '../../../../src/engine/manifest/csv/beginning.ts';

test.each<[text: string, delimiter: string, why: string]>([
  ['a;b\n1,5;2,5\n1,5;2,5\n', ';', 'decimal commas'],
  ['a;b\n"x,y";2\n', ';', 'commas in quotes'],
  ['id;name, first;x\n1;Ann;2\n2;Bob;3\n', ';', 'commas in the header, but not in the rows'],
  ['"a;b","c;d"\n1,2\n', ',', 'semicolons in a quoted header'],
  ['a,b;c\n1,2;3\n', ',', 'the order of preference, for nothing else tells'],
  ['a;b;c,d\n', ';', 'more cells'],
  ['"x\ny;z",b\n1,2\n', ',', 'line ends in quotes'],
  ['"a ""q;r;s"" b",c\n1,2\n', ',', 'doubled quotes'],
  ['"""","||"\n"x","x"\n', ',', 'text after a closing quote, were it the other one'],
  ['id\n1,5\n', ',', 'one column'],
])('%j is separated by %j: %s', (text, delimiter) => {
  expect(detectDelimiter(text, true, ',')).toBe(delimiter);
});

test('an incomplete record is ignored', () => {
  expect(detectDelimiter('a;b,c\n1;2,3\n4', false, ',')).toBe(',');
  expect(detectDelimiter('a;b\n1;2\n3', false, ',')).toBe(';');
  expect(detectDelimiter('a;b', false, ',')).toBe(',');
});

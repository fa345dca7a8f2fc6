import { expect, test } from 'vitest';
import { readCell } from '../../../../src/engine/manifest/workbook/cell.ts';
import { shownNumber, shownTime } from '../../../../src/engine/manifest/workbook/cell-format.ts';

const formats = { shownNumber, shownTime, is1904: false };

const cellOf = (value: number | Date, numFmt: string, is1904 = false) =>
  readCell(value, { value, type: 'number', style: { numFmt } }, { ...formats, is1904 });

/** The date that a workbook of 1900 holds as this number. */
const dateOf = (serial: number) =>
  new Date(Date.UTC(1899, 11, 31) + Math.round((serial >= 60 ? serial - 1 : serial) * 86_400_000));

test.each<[value: number, format: string, text: string]>([
  [131, '000000', '000131'],
  [9007, '#,##0', '9007'],
  [0.256, '0.0%', '25.6%'],
  [12.5, '"€"#,##0.00', '€12.50'],
  [-5, '#,##0_);(#,##0)', '(5)'],
  [5_551_234_567, '(000) 000-0000', '(555) 123-4567'],
  [0.1 + 0.2, 'General', '0.3'],
])('the number %d in the format %s is sent as it is shown: %s', (value, format, text) => {
  expect(cellOf(value, format)).toEqual({ text });
});

test.each<[value: number, format: string]>([
  [0, 'General" s"'],
  [0.256, '0%'],
  [1200, '0.0,"K"'],
  [1.5, '# ?/?'],
  [0, '0;-0;"zero"'],
  [1 / 3, 'General'],
  [123_456_789_012_345.67, 'General'],
])('the number %d in the format %s makes its row invalid', (value, format) => {
  expect(cellOf(value, format).problem).toMatch(
    /^is (shown in another way \(format |a number with more than 15)/,
  );
});

test.each<[serial: number, format: string, text: string]>([
  [1.0854, '[h]:mm:ss', '26:02:58'],
  [1.0854, 'h:mm:ss', '2:02:58'],
  [0.75, '[$-409]h:mm AM/PM', '6:00 PM'],
  [0.002372685185185185, 'mm:ss.0', '03:25.0'],
  [46_352.4375, 'yyyy\\-mm\\-dd\\ hh:mm', '2026-11-26T10:30:00'],
  [46_352.4375, 'hh:mm:ss', '10:30:00'],
  [46_352, '[$-407]d. mmmm yyyy', '2026-11-26'],
])('%d in the format %s is sent as %s', (serial, format, text) => {
  expect(cellOf(dateOf(serial), format)).toEqual({ text });
});

test.each<[serial: number, format: string]>([
  [-0.5, '[h]:mm:ss'],
  [60, 'dd/mm/yyyy'],
  [1.5, 'yyyy-mm-dd'],
  [46_352, 'yyyy-mm-dd [h]:mm'],
])('%d in the format %s makes its row invalid', (serial, format) => {
  expect(cellOf(dateOf(serial), format).problem).toMatch(/^is shown in another way \(format /);
});

test('dates of a workbook that counts from 1904 are right, and its durations', () => {
  const of1904 = (serial: number) => new Date(Date.UTC(1904, 0, 1) + serial * 86_400_000);
  expect(cellOf(of1904(1.0854), '[h]:mm:ss', true)).toEqual({ text: '26:02:58' });
  expect(cellOf(of1904(0), 'yyyy-mm-dd', true)).toEqual({ text: '1904-01-01' });
});

test('every second of two days is shown as it is', () => {
  for (let second = 0; second < 2 * 86_400; second++) {
    const [hours, minutes, seconds] = [second / 3600, (second / 60) % 60, second % 60].map(Math.floor);
    const two = (part = 0) => String(part).padStart(2, '0');
    const date = dateOf(Math.round((second / 86_400) * 1e15) / 1e15);
    const shown = shownTime(date, '[h]:mm:ss', false);
    if (shown !== `${hours}:${two(minutes)}:${two(seconds)}`) expect.fail(`${second}: ${shown}`);
  }
});

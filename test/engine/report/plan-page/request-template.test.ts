import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requestOfTemplate, templateOf } from '../../../../src/engine/report/plan-page/request-template.ts';
import { anyText } from '../../journal/arbitraries.ts';

const value = fc.oneof(
  anyText,
  fc.constantFrom('1', '41', 'a', 'Tést', '"', '\\', '\ue000', '\ue101', '%'),
  fc.constant(undefined),
);

/** Requests with values in them, in any spelling, and with anything else. */
const requests = fc.array(value, { maxLength: 6 }).chain((values) => {
  const texts = values.flatMap((each) => (each === undefined ? [] : [each]));
  const part = fc.oneof(
    anyText,
    ...texts.map((text) => fc.constantFrom(text, JSON.stringify(text), `/${text}/`)),
  );
  return fc.tuple(
    fc.constant(values),
    fc.array(part, { maxLength: 8 }).map((parts) => parts.join('')),
  );
});

test('a template with its values is the request again, whatever both contain', () => {
  fc.assert(
    fc.property(requests, ([values, request]) => {
      expect(requestOfTemplate(templateOf(request, values), values)).toBe(request);
    }),
    { numRuns: 500 },
  );
});

test('rows of one operation have one template', () => {
  const template = (id: string, title: string) =>
    templateOf(`PUT /boards/${encodeURIComponent(id)}\n${JSON.stringify({ id, title })}`, [id, title]);
  expect(template('4 711', 'Say "hello"')).toBe(template('52/3', 'Gré\n'));
});

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { compareNumber, isSafeNumber, LosslessNumber, parse } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { jsonLine, parseJson, stringifyJson } from '../../../src/base/text/json.ts';
import { anyCharacter } from '../../any-character.ts';
import { anyJson, spoiltJson } from '../../json-texts.ts';

/** Makes `parseJson` take its exact path, whatever the other text is. */
const exactMarker = '12345678901234567890';

/** The meaning of `parseJson`, expressed with only the library. */
function parseSlowly(text: string): unknown {
  return parse(text, null, {
    parseNumber: (literal) => {
      if (isSafeNumber(literal)) return Number(literal);
      const isInteger = /^-?\d+$/.test(literal) && literal.length <= 100;
      return isInteger ? BigInt(literal) : new LosslessNumber(literal);
    },
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

const onBothPaths = (text: string): readonly unknown[] => {
  const [exact] = parseJson(`[${text},${exactMarker}]`) as readonly unknown[];
  return [parseJson(text), exact];
};

test('a name with escapes is read correctly, whatever was read before', () => {
  // What Node 24 mistakes the second name for.
  JSON.parse('{"h":[],"\\\\":0}');
  expect(Object.keys(parseJson('{"h":1,"\\"":2}') as object)).toEqual(['h', '"']);
  expect(Object.keys(parseJson('{"h":12345678901234567890,"\\"" :2}') as object)).toEqual(['h', '"']);
});

describe('parseJson', () => {
  test.each<[string, unknown]>([
    ['-0', -0],
    ['9007199254740992', 9007199254740992n],
    ['9007199254740993.0', new LosslessNumber('9007199254740993.0')],
    ['1'.repeat(101), new LosslessNumber('1'.repeat(101))],
  ])('reads %s exactly, in any place', (literal, expected) => {
    expect(onBothPaths(literal)).toEqual([expected, expected]);
    expect(parseJson(` ${literal} `)).toEqual(expected);
    expect(parseJson(`{"a":${literal}}`)).toEqual({ a: expected });
    expect(parseJson(`{"a" :\n${literal}}`)).toEqual({ a: expected });
    expect(parseJson(`[1,${literal}]`)).toEqual([1, expected]);
  });

  test('keeps a __proto__ key as an ordinary property', () => {
    for (const value of onBothPaths('{"__proto__":{"polluted":true},"constructor":1}')) {
      expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect((value as { polluted?: unknown }).polluted).toBeUndefined();
    }
  });

  test.each<[string, string]>([
    ['', 'reached end of input at position 0'],
    ['"a\nb"', "'\\n' at position 2"],
    ['[1234567890123456789 1e400]', 'at position 21'],
  ])('says where %j is not valid JSON', (text, message) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
    expect(() => parseJson(text)).toThrow(message);
  });

  test.each<[string, string]>([
    ['closed arrays', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['arrays around an exact number', `${'['.repeat(5_000)}${exactMarker}${']'.repeat(5_000)}`],
  ])('refuses deeply nested %s', (_, text) => {
    expect(() => parseJson(text)).toThrow(/^JSON is nested deeper than 512 levels at position \d+$/);
  });

  test('accepts 512 levels, and any number of brackets in strings', () => {
    const nested = `${'['.repeat(512)}${']'.repeat(512)}`;
    expect(stringifyJson(parseJson(nested))).toBe(nested);
    const brackets = JSON.stringify(`\\"${'[{'.repeat(2000)}\\`);
    expect(stringifyJson(parseJson(brackets))).toBe(brackets);
  });

  test.each<[string, fc.Arbitrary<string>]>([
    ['every JSON text', anyJson],
    ['text that is almost JSON', spoiltJson],
  ])('agrees with lossless-json on %s', (_, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        const slow = outcomeOf(parseSlowly, text);
        const quick = outcomeOf(parseJson, text);
        if (isDeepStrictEqual(quick, slow)) return;
        expect(quick).toEqual(slow);
        throw new Error(`differs in prototypes: ${text}`);
      }),
      { numRuns: 1500 },
    );
  });

  test.each<[string, (count: number) => string]>([
    ['big numbers and strings', (count) => `[${'"a",1234567890123456789,'.repeat(count)}1]`],
    ['a string like numbers', (count) => `[1e400,"${', 1234567890123456789'.repeat(count)}"]`],
    ['keys that are numbers', (count) => `{${'1234567890123456789 :1,'.repeat(count)}`],
  ])('does not hang on %s: quadratic time would take minutes', (_, textOf) => {
    accepts(() => parseJson(textOf(100_000)));
  });
});

describe('stringifyJson', () => {
  test.each<[string, unknown]>([
    ['{"id":9007199254740993,"n":1.5}', { id: 9007199254740993n, n: 1.5 }],
    ['{"b":null}', { a: undefined, b: null }],
    ['{"\\udfff":1}', { '\udfff': 1 }],
  ])('writes %s', (text, value) => {
    expect(stringifyJson(value)).toBe(text);
  });

  test('refuses values that JSON cannot hold', () => {
    expect(() => stringifyJson(undefined)).toThrow(TypeError);
  });

  test('keeps every string, and its UTF-8 is well-formed', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (key, value) => {
        const text = stringifyJson({ [key]: value });
        expect(Buffer.from(text, 'utf8').toString('utf8')).toBe(text);
        expect(parseJson(text)).toEqual(JSON.parse(JSON.stringify({ [key]: value })));
      }),
    );
  });

  test('keeps the value of every number literal', () => {
    const literal = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,25})?([eE][+-]?\d{1,3})?$/);
    fc.assert(
      fc.property(literal, (text) => {
        expect(compareNumber(stringifyJson(parseJson(text)), text)).toBe(0);
        const inside = stringifyJson(parseJson(`{"n": ${text}}`)).slice('{"n":'.length, -1);
        expect(compareNumber(inside, text)).toBe(0);
      }),
      { numRuns: 1500 },
    );
  });
});

/** The result, with its keys in order, or its error. */
function outcomeOf(parseText: (text: string) => unknown, text: string): unknown {
  try {
    const value = parseText(text);
    return { value, written: stringifyJson(value) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { position: /at position \d+$/.exec(error.message)?.[0] };
  }
}

function accepts(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

test('a line of JSON ends at its end, whatever its texts contain', () => {
  const breaks = ['\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029'];
  const unit = fc.oneof(anyCharacter, fc.constantFrom(...breaks, '\ud800'));
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit }), fc.string({ unit })), (value) => {
      const line = jsonLine(value);
      expect(line.match(/[\n\r\v\f\u0085\u2028\u2029]/g)).toEqual(['\n']);
      // So it can be written as UTF-8, and read back.
      expect(JSON.parse(Buffer.from(line).toString())).toEqual({ ...value });
    }),
  );
});

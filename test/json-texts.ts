import fc from 'fast-check';

const anyNumber = fc.oneof(
  fc.constantFrom('0', '-0', '-0.0', '87.5', '9007199254740991', '9007199254740992', '-9007199254740993'),
  fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/),
  // Not numbers, though some programs write them.
  fc.constantFrom(
    '01234567890123456789',
    '1234567890123456789.',
    '+1234567890123456789',
    '1e',
    '.1e5',
    '1.e5',
  ),
);

/** A quoted string, made of parts that are easily mistaken for something else. */
const anyString = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\\"',
        '\\\\',
        '\\u0000',
        '\\\\u0000',
        '\\u0022',
        '\\ud800',
        '\\n',
        '\\x',
        '😀',
        '\u2028',
      ),
      fc.constantFrom('a', ' ', ':', ',', '[', '{', '}', ', 1234567890123456789', ':1e400,', "'"),
      anyNumber,
    ),
    { maxLength: 4 },
  )
  .map((parts) => `"${parts.join('')}"`);

const anyKey = fc.oneof(fc.constantFrom('"a"', '"b"', '"1"', '"__proto__"', '"constructor"'), anyString);

const anySpace = fc.constantFrom('', '', '', ' ', '\n\t\r ');

const { anyJson: json } = fc.letrec<{ anyJson: string; list: string; record: string }>((tie) => ({
  anyJson: fc
    .tuple(
      anySpace,
      fc.oneof(
        { maxDepth: 4 },
        anyNumber,
        anyString,
        fc.constantFrom('true', 'null'),
        tie('list'),
        tie('record'),
      ),
      anySpace,
    )
    .map((parts) => parts.join('')),
  list: fc.array(tie('anyJson'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
  record: fc
    .array(
      fc
        .tuple(anySpace, anyKey, anySpace, tie('anyJson'))
        .map(([a, key, b, value]) => `${a}${key}${b}:${value}`),
      { maxLength: 5 },
    )
    .map((members) => `{${members.join(',')}}`),
}));

/** JSON text, with numbers of all sizes, equal keys, and strings that look like other parts. */
export const anyJson = json;

/** JSON text with something added that does not belong there, or with something missing. */
export const spoiltJson = fc
  .tuple(
    anyJson,
    fc.nat(),
    fc.nat(2),
    fc.constantFrom(
      '',
      '"',
      '\\',
      ',',
      ':',
      '-',
      '.',
      'e',
      '\0',
      '\u00a0',
      '{',
      '}',
      '[',
      ']',
      '1234567890123456789',
    ),
  )
  .map(([text, seed, lost, inserted]) => {
    const position = seed % (text.length + 1);
    return text.slice(0, position) + inserted + text.slice(position + lost);
  });

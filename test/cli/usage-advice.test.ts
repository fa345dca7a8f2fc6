import { expect, test } from 'vitest';
import { withAdvice } from '../../src/cli/usage-advice.ts';

test.each([
  ['--backoff', 'set "backoff" in config.json of the state folder, or CQBATCH_BACKOFF.'],
  [
    '--max-failures-after=7',
    'set "max_failures_after" in config.json of the state folder, or CQBATCH_MAX_FAILURES_AFTER.',
  ],
  ['--clear-token', 'set "clear_token" in config.json of the state folder, or CQBATCH_CLEAR_TOKEN.'],
  ['--canary-random', 'write --canary 10,random for a random sample.'],
  ['--tz', "write the time zone behind the time: --stop-at '06:00 Europe/London'."],
  ['--once', 'type "cqbatch watch FOLDER --once".'],
  ['--dry-run', '"cqbatch plan" checks every row and sends nothing.'],
  ['--token', 'a token is never an option; set CQBATCH_TOKEN, or pass --token-file FILE.'],
])('%s is answered with the right option', (option, advice) => {
  const name = option.replace(/=.*/, '');
  for (const end of ['', '\n', '\n(Did you mean --canary?)\n'])
    expect(withAdvice(`error: unknown option '${option}'${end}`).trimEnd()).toBe(
      `error: There is no option ${name}: ${advice}`,
    );
});

test.each(['restore', 'rows.csv', 'week 47.xlsx', 'rows.jsonl.gz'])(
  'the command %s is taken for a manifest',
  (name) => {
    for (const end of ['', '\n', '\n(Did you mean report?)\n'])
      expect(withAdvice(`error: unknown command '${name}'${end}`)).toBe(
        `error: unknown command '${name}'. "cqbatch plan FILE" checks a manifest, "cqbatch run FILE" calls the API.${end}`,
      );
  },
);

test('other mistakes are reported plainly, and a pattern expanded by the shell is explained', () => {
  expect(withAdvice("error: unknown command 'nonsense'\n")).toBe("error: unknown command 'nonsense'\n");
  expect(withAdvice("error: unknown option '--nonsense'\n")).toBe("error: unknown option '--nonsense'\n");
  expect(withAdvice("error: too many arguments for 'run'. Expected 1 argument but got 2.\n")).toBe(
    "error: too many arguments for 'run'. Expected 1 argument but got 2. Put a pattern in quotation marks: 'inbox/*.csv'.\n",
  );
});

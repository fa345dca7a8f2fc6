import { expect, test } from 'vitest';
import { inProgramWords } from '../../src/library/program-words.ts';

test.each([
  ['fix it or pass --skip-invalid.', 'fix it or pass skipInvalid: true.'],
  [
    'give all fields, pass --compare if the service lists its entries, or pass --allow-partial.',
    'give all fields, pass settings: { compare: true } if the service lists its entries, or pass settings: { allow_partial: true }.',
  ],
  ['pass --trust-ids if you know it', 'pass settings: { trust_ids: true } if you know it'],
  [
    'pass --on-conflict last (only the last) or --on-conflict in-order (all)',
    "pass settings: { on_conflict: 'last' } (only the last) or settings: { on_conflict: 'in-order' } (all)",
  ],
  ['longer than --max-outage allows', 'longer than settings.max_outage allows'],
  ['more than the limit of 5 (--max-failures).', 'more than the limit of 5 (settings.max_failures).'],
  ['pass --skip-lines 2', 'pass settings: { skip_lines: 2 }'],
  ['pass --map "ID=evaluation_id"', "pass settings: { map: 'ID=evaluation_id' }"],
  // What is typed, and what only commands have, is as it was.
  ['type "cqbatch run FILE --trust-ids" then', 'type "cqbatch run FILE --trust-ids" then'],
  ['To go on: cqbatch resume x --max-failures none', 'To go on: cqbatch resume x --max-failures none'],
  ['use --token-file, or --or-resume', 'use tokenFromFile, or orResume: true'],
  ['or use another folder (--state-dir).', 'or use another folder (stateDir).'],
  ['Wait for its end (--wait 10m), or stop it', 'Wait for its end, or stop it'],
  ['fix the base URL (--base-url)', 'fix the base URL (baseUrl of the client)'],
])('%s', (text, expected) => {
  expect(inProgramWords(text)).toBe(expected);
});

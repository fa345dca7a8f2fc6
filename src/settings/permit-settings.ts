import { fieldFates } from '../domain/terms.ts';
import { parseChoice, parseSwitch } from './parsers.ts';
import type { Setting } from './setting.ts';

export const permitSettings = {
  allowPartial: {
    ofBatch: true,
    parse: parseSwitch,
    help: 'allow rows that leave fields out, which the API might reset; needed once for each API',
  },
  leftOut: {
    ofBatch: true,
    parse: parseChoice(fieldFates.leftOut),
    words: fieldFates.leftOut,
    value: '<fate>',
    help: 'what the API does with a field that a row leaves out, as you have seen there: kept or reset',
    otherwise: 'as seen before',
  },
  cleared: {
    ofBatch: true,
    parse: parseChoice(fieldFates.cleared),
    words: fieldFates.cleared,
    value: '<fate>',
    help: 'what becomes of a field that a row clears, as you have seen there: empty or kept',
    otherwise: 'as seen before',
  },
  allowEmpty: {
    ofBatch: true,
    parse: parseSwitch,
    help: 'allow a run without a call, as when no row is chosen',
  },
} as const satisfies Readonly<Record<string, Setting>>;

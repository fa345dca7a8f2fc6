import { defaultClearToken, hiddenRules } from '../engine/manifest/manifest.ts';
import * as parsers from './parsers.ts';
import type { Setting } from './setting.ts';

export const readingSettings = {
  encoding: {
    rowOption: 'encoding',
    parse: parsers.parseEncoding,
    value: '<name>',
    help: 'encoding of the text, such as windows-1252',
    default: 'utf-8',
  },
  skipLines: {
    rowOption: 'skipLines',
    parse: parsers.parseInteger(0, 1_000),
    value: '<n>',
    help: 'number of lines above the column headers',
    default: '0',
  },
  clearToken: {
    noFlag: true,
    rowOption: 'clearToken',
    parse: parsers.parseText,
    value: '<text>',
    help: 'CSV cell that sends an empty text; an empty cell leaves its field out',
    default: defaultClearToken,
  },
  sheet: {
    rowOption: 'sheet',
    parse: parsers.parseText,
    value: '<name|n>',
    help: 'sheet of an Excel workbook',
    behaviorWithout: 'the first with rows',
  },
  hidden: {
    rowOption: 'hidden',
    parse: parsers.parseChoice(hiddenRules),
    words: hiddenRules,
    value: '<rule>',
    help: 'hidden rows of an Excel workbook: include or skip',
    behaviorWithout: 'they are refused',
  },
  rowsAt: {
    rowOption: 'rowsAt',
    parse: parsers.parseText,
    value: '<path>',
    help: 'where a JSON object has its rows',
    default: 'rows',
  },
  trustIds: {
    rowOption: 'trustIds',
    parse: parsers.parseSwitch,
    help: 'call identifiers although all long ones end in zeros, as those that a spreadsheet or JavaScript has rounded',
  },
  trustQuotes: {
    rowOption: 'trustQuotes',
    parse: parsers.parseSwitch,
    help: 'send cells although their lines look like rows, as when a quote opens by mistake',
  },
  strict: {
    rowOption: 'strict',
    parse: parsers.parseSwitch,
    help: 'refuse rows with values that the API most likely drops, such as unknown names and times unlike 2026-11-16T10:00:00Z; otherwise, the plan warns',
  },
  compare: {
    isCommon: true,
    rowOption: 'compare',
    parse: parsers.parseSwitch,
    help: 'read what the service lists first: show what changes, leave out rows that change nothing, send whole entries',
  },
} as const satisfies Readonly<Record<string, Setting>>;

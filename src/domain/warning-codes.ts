import type { CodeTable } from '../base/errors/codes/advice.ts';

/** The codes of the warnings of a plan: docs/reference.md is made from this table. */
export const warningCodes = {
  COLUMN_RESEMBLES_FIELD: ['A column is not sent, but its name is close to a field.', 'Pass --map.'],
  COLUMN_MISSING: ['No column has a field of the operation.', 'Pass --map or --default.'],
  MAP_UNUSED: ['--map names a column that is not there.', 'Correct the name.'],
  DEFAULT_OVERRIDDEN: ['Rows have values of their own where you pass a default.', 'Look at these rows.'],
  OPTION_WITHOUT_EFFECT: ['An option changes nothing.', 'Leave the option out, or correct its value.'],
  CELLS_INCOMPARABLE: ["--where left out rows whose cells can't be compared.", 'Correct these cells.'],
  BLANKS_AROUND_TEXT: ['Cells begin or end with blanks, which are sent.', 'Pass --trim.'],
  WORD_FOR_NOTHING: ['Cells have a word such as NULL, which is sent.', 'Empty these cells.'],
  VALUE_UNEXPECTED: [
    'A value is not as the service expects.',
    'Correct the value. --strict refuses its row.',
  ],
  DAMAGED_TEXT: ['Cells lack characters that were lost before.', 'Export the data again.'],
  MISREAD_TEXT: ['Cells were read in a wrong encoding before.', 'Export the data again, as UTF-8.'],
  NUMBER_MAY_BE_ROUNDED: ['An API in JavaScript may round a number.', 'Send text, if the API takes text.'],
  HIDDEN_ROWS: [
    'The sheet has hidden rows.',
    'Look at the hidden rows. Then pass --hidden skip or --hidden include.',
  ],
  HIDDEN_COLUMN: ['A hidden column is read.', 'Delete the column, if its cells must not be sent.'],
  ROWS_ON_OTHER_PAGES: ['The file is one page of several.', 'Export all pages.'],
  LIST_UNSURE: [
    'The list changed meanwhile, or has unreadable entries: rows of them are invalid.',
    'Plan again.',
  ],
  FIELD_COMPUTED: ['The service sets a field itself, so the field is not sent.', 'Nothing to do.'],
  KEY_KEPT: ['Rows are sent with the Idempotency-Key of an earlier run.', 'Nothing to do.'],
  KEY_UNKNOWN: ["An earlier run can't be read, so its rows may be done twice.", 'Restore that run first.'],
} as const satisfies CodeTable;

export type WarningCode = keyof typeof warningCodes;

import type { CodeTable } from './advice.ts';

const correct = 'Correct the place that the message names.';
const copyAgain = 'Copy or download the file again.';
const saveAgain = 'Save the data as "CSV UTF-8".';
const rename = 'Rename or delete a column.';
const otherField = 'Type a field from the message.';

/** Errors of manifests, and why a plan is not ready. Nothing was sent. */
export const manifestCodes = {
  MANIFEST_NOT_FOUND: ['There is no such file.', 'Correct the path.'],
  MANIFEST_NOT_A_FILE: ['The path is no file, or a pipe.', 'Name a file, or - for standard input.'],
  MANIFEST_UNREADABLE: ['You may not read the file.', 'Correct its owner or mode.'],
  MANIFEST_CHANGED: ['The file was replaced meanwhile.', 'Hand the file in again.'],
  MANIFEST_TOO_LARGE: ['The file is too large.', 'Split the file, or raise max_manifest_size.'],
  MANIFEST_RECORD_TOO_LARGE: ['A row or value is too large.', 'Close the quote or bracket before the row.'],
  MANIFEST_TOO_MANY_COLUMNS: ['There are too many columns.', 'Delete columns that no row needs.'],
  MANIFEST_EMPTY: ['There are no rows.', 'Save the file again; for a workbook, pass --sheet.'],
  MANIFEST_NO_HEADER: ['The first line has no column names.', 'Add them, or pass --skip-lines.'],
  MANIFEST_DUPLICATE_COLUMN: ['Two columns have one name.', rename],
  MANIFEST_AMBIGUOUS_COLUMN: ['Two columns stand for one field.', rename],
  MANIFEST_MIXED_DELIMITERS: ['A title has another delimiter than the file.', 'Use one delimiter.'],
  MANIFEST_SYNTAX: ['The text is not valid CSV or JSON.', correct],
  MANIFEST_REPEATED_NAME: ['A JSON object has a name twice.', correct],
  MANIFEST_DEFAULTS: ['"defaults" names an unknown field.', correct],
  MANIFEST_NOT_UTF8: ['The text is not UTF-8.', 'Pass the --encoding that the message names.'],
  MANIFEST_UTF16: ['The text is UTF-16.', 'Pass the --encoding that the message names.'],
  MANIFEST_NOT_ENCODED: ['The text does not have that encoding.', 'Pass another --encoding.'],
  MANIFEST_BINARY: ['The file is no text.', saveAgain],
  MANIFEST_MARKUP: ['The file is HTML or XML.', saveAgain],
  MANIFEST_GZIP_TRUNCATED: ['The gzip data ends early.', copyAgain],
  MANIFEST_GZIP_DAMAGED: ['The gzip data is damaged.', copyAgain],
  MANIFEST_WORKBOOK_UNREADABLE: ['The file is no Excel workbook that can be read.', saveAgain],
  MANIFEST_NO_SHEET: ['The workbook has no such sheet.', 'Pass a --sheet that the message names.'],
  MANIFEST_HIDDEN_ROWS: ['The sheet has hidden rows.', 'Pass --hidden skip or --hidden include.'],
  MANIFEST_OPTION_UNSUITABLE: ['An option does not fit the file.', 'Leave the option out.'],
  MANIFEST_OPERATION_UNCLEAR: ['The columns fit no or several operations.', 'Pass --operation.'],
  MANIFEST_OPERATION_MISMATCH: ['The file and --operation differ.', 'Leave out --operation.'],
  MANIFEST_UNKNOWN_OPERATION: ['The file names an unknown operation.', correct],
  MANIFEST_REFUSED: [
    'The plan was not ready.',
    'Correct what the message names, then hand the file in again.',
  ],
  MAP_UNKNOWN_FIELD: ['--map names an unknown field.', otherField],
  DEFAULT_UNKNOWN_FIELD: ['--default names an unknown field.', otherField],
  WHERE_UNKNOWN_COLUMN: ['--where names an unknown column.', 'Type a column from the message.'],
  NOT_A_REPORT: ['--skip-done got a file that is no report.', 'Name a run, or its report.csv.'],
  INVALID_ROWS: ['Rows are invalid.', 'Correct them, or pass --skip-invalid.'],
  CONFLICTING_ROWS: ['Rows want different things of one entry.', 'Pass --on-conflict last or in-order.'],
  ROUNDED_IDS: ['Excel has rounded long numbers.', 'Export again as text, or pass --trust-ids.'],
  FIELDS_LEFT_OUT: [
    'Rows leave fields out, which the service may reset.',
    'Give all fields, pass --compare if the service lists its entries, or pass --allow-partial.',
  ],
  CELLS_INCOMPARABLE: [
    "--where can't compare some cells.",
    'Write numbers as 79.5 and times as 2026-11-16T10:00:00Z.',
  ],
  NOTHING_TO_CALL: ['No row would be called.', 'If that is right, pass --allow-empty.'],
} as const satisfies CodeTable;

import { apiCodes } from './codes/api-codes.ts';
import { datastoreCodes } from './codes/datastore-codes.ts';
import { fileCodes } from './codes/file-codes.ts';
import { manifestCodes } from './codes/manifest-codes.ts';
import { runCodes } from './codes/run-codes.ts';

/** The codes of errors by subject: docs/reference.md is made from this table. */
export const errorCodes = {
  'Disk and files': fileCodes,
  Datastore: datastoreCodes,
  'API, token and operations': apiCodes,
  Manifests: manifestCodes,
  'Commands, runs and plans': runCodes,
} as const;

/** Codes of rows that also end a command: `src/domain/code-table.ts` says what to do. */
export const codesOfRowsAndErrors = [
  'OPERATION_FAILED',
  'TOKEN_EMPTY',
  'TOKEN_MALFORMED',
  'TOKEN_UNREADABLE',
] as const;

type CodeOf<Table> = Table extends unknown ? keyof Table : never;

/** The code of an error that ends a command. Stable between versions. */
export type ErrorCode =
  | CodeOf<(typeof errorCodes)[keyof typeof errorCodes]>
  | (typeof codesOfRowsAndErrors)[number];

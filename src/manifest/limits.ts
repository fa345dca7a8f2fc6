/** Default limit of one record, in bytes: CSV record, JSON array element or line of JSON Lines. */
export const maxRecordBytes = 16 * 1024 * 1024;

/** Limits of a manifest's columns: as many as a spreadsheet holds, and 1 MiB of names. */
export const maxColumns = 16_384;
export const maxColumnNamesLength = 1024 * 1024;

/** Rows handed over at a time. */
export const maxRowsPerChunk = 500;

/** Bytes read at a time. */
export const readSize = 256 * 1024;

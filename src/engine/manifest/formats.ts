import { inWords } from '../../base/text/format.ts';
import { delimiterIn } from './csv/beginning.ts';
import { isJson, isJsonLines, objectWithRows } from './json/beginning.ts';
import type { ManifestFormat } from './manifest-format.ts';
import { isWorkbook } from './text/file-kind.ts';

/**
 * The formats of manifests, in the order in which help names them. Messages, help, staged copies and inboxes read this table. Readers are
 * loaded when a file needs them: they are large.
 */
export const formats: readonly ManifestFormat[] = [
  {
    kind: 'text',
    name: 'csv',
    title: 'CSV',
    extensions: ['csv', 'txt'],
    hasHeader: true,
    options: { skipLines: 'CSV' },
    magic: (beginning) => !isJson(beginning) && delimiterIn(beginning) !== '\t',
    open: async (...file) => (await import('./csv/delimited-text.ts')).openDelimited(...file),
  },
  {
    kind: 'text',
    name: 'tsv',
    title: 'TSV',
    extensions: ['tsv', 'tab'],
    hasHeader: true,
    options: { skipLines: 'TSV' },
    magic: (beginning) => !isJson(beginning) && delimiterIn(beginning) === '\t',
    open: async (...file) => (await import('./csv/delimited-text.ts')).openDelimited(...file),
  },
  {
    kind: 'binary',
    name: 'xlsx',
    title: 'Excel',
    noun: 'a workbook',
    extensions: ['xlsx'],
    hasHeader: true,
    options: { skipLines: 'Excel workbooks', sheet: 'Excel workbooks', hidden: 'Excel workbooks' },
    magic: isWorkbook,
    open: async (...file) => (await import('./workbook/workbook.ts')).openWorkbook(...file),
  },
  {
    kind: 'text',
    name: 'json',
    title: 'JSON',
    extensions: ['json'],
    hasHeader: false,
    options: { rowsAt: objectWithRows },
    magic: (beginning) => isJson(beginning) && !isJsonLines(beginning),
    open: async (...file) => (await import('./json/json-text.ts')).openJson(...file),
  },
  {
    kind: 'text',
    name: 'jsonl',
    title: 'JSON Lines',
    extensions: ['jsonl', 'ndjson'],
    hasHeader: false,
    options: {},
    magic: (beginning) => isJson(beginning) && isJsonLines(beginning),
    open: async (...file) => (await import('./json/json-text.ts')).openJsonLines(...file),
  },
];

/** The titles of the formats, for help: `CSV, TSV, Excel, JSON or JSON Lines`. */
export const formatTitles = inWords(
  formats.map(({ title }) => title),
  'or',
);

/** A pattern for names of manifests, in any case, also gzipped: `*.{csv,txt,tsv}{,.gz}`. */
export const manifestNames = `*.{${formats.flatMap(({ extensions }) => extensions).join(',')}}{,.gz}`;

/** The format by the extension of a file's name, also gzipped. Undefined for other names. */
export function formatByName(file: string): ManifestFormat | undefined {
  const extension = /\.([a-z]+)(?:\.gz)?$/i.exec(file)?.[1]?.toLowerCase() ?? '';
  return formats.find(({ extensions }) => extensions.includes(extension));
}

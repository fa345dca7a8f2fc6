import { outcomes, type RowHistory, type RowResult } from '../domain.ts';
import { fatalError } from '../errors.ts';

/**
 * What goes through the datastore. Every payload is JSON text inside one string: the text escapes NUL and lone
 * surrogates, which PostgreSQL's `jsonb` refuses, so whatever a manifest or an API says comes back exactly.
 */

/** Version of the payloads; a worker refuses rows of a version that it does not know. */
const payloadVersion = 1;

/** A row as a worker gets it. It holds no token: each worker has its own. */
export interface RowTask {
  readonly run: string;
  readonly row: number;
  readonly operation: string;
  readonly subject: string;
  readonly path: string;
  /** The request's body, exactly as it goes out. */
  readonly body: string;
  /** What attempts did before; absent when there were none. */
  readonly history?: RowHistory;
  /** How often a worker has taken the row and said in `history` what came of it. */
  readonly accountedClaims: number;
}

/** Data of a row's job: an envelope that every version understands around a text that may not. */
export interface RowJobData {
  readonly v: number;
  /** `accountedClaims`. It is outside of the text so that a worker which can't read that can still account for itself. */
  readonly claims: number;
  readonly text: string;
}

export function encodeTask({ accountedClaims, ...task }: RowTask): RowJobData {
  return { v: payloadVersion, claims: accountedClaims, text: JSON.stringify(task) };
}

/** @throws a fatal error `UNKNOWN_PAYLOAD` when another version of the program wrote it. */
export function decodeTask(data: unknown): RowTask {
  const { v, claims, text } = data as Partial<RowJobData>;
  if (v !== payloadVersion || typeof claims !== 'number' || typeof text !== 'string') {
    throw fatalError(
      'UNKNOWN_PAYLOAD',
      `A row in the datastore has data of version ${String(v)}; this program knows version ${payloadVersion}. ` +
        'Use the version of cqbatch that started the run.',
    );
  }
  return { ...readTask(JSON.parse(text), 'row'), accountedClaims: claims };
}

/** The same data, whatever it says, with this many claims accounted for. */
export function withAccountedClaims(data: RowJobData, claims: number): RowJobData {
  return { ...data, claims };
}

export function encodeResult(result: RowResult): string {
  return JSON.stringify(result);
}

export function decodeResult(value: unknown): RowResult {
  // The datastores differ in whether they hand back the JSON string or its text.
  const text = String(value);
  const parsed: unknown = JSON.parse(text);
  return readResult(typeof parsed === 'string' ? JSON.parse(parsed) : parsed, 'result');
}

/**
 * Checks a part of a payload, `undefined` where it is absent, and gives it back. It throws a TypeError, because only a
 * defect of this program makes such payloads; a schema library would take longer than everything else here.
 */
type Read<T> = (value: unknown, name: string) => T;

/** How each field of an object is read. */
type Fields<T> = {
  readonly [Name in keyof T]-?: Read<object extends Pick<T, Name> ? T[Name] | undefined : T[Name]>;
};

const readText: Read<string> = (value, name) => (typeof value === 'string' ? value : malformed(name));
const readFlag: Read<boolean> = (value, name) => (typeof value === 'boolean' ? value : malformed(name));
const readNumber: Read<number> = (value, name) =>
  typeof value === 'number' && Number.isFinite(value) ? value : malformed(name);

function oneOf<T>(values: readonly T[]): Read<T> {
  return (value, name) => values.find((known) => known === value) ?? malformed(name);
}

function optional<T>(read: Read<T>): Read<T | undefined> {
  return (value, name) => (value === undefined ? undefined : read(value, name));
}

/** An object with these fields; others are left out. */
function readObject<T extends object>(fields: Fields<T>): Read<T> {
  const reads = Object.entries<Read<unknown>>(fields);
  return (value, name) => {
    if (!isObject(value)) return malformed(name);
    const known: Record<string, unknown> = {};
    for (const [field, read] of reads) {
      const part = read(value[field], field);
      if (part !== undefined) known[field] = part;
    }
    return known as T;
  };
}

const readTexts: Read<Readonly<Record<string, string>>> = (value, name) => {
  if (!isObject(value)) return malformed(name);
  for (const key in value) readText(value[key], key);
  return value as Readonly<Record<string, string>>;
};

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(name: string): never {
  throw new TypeError(`Data of a row in the datastore are malformed: ${name}`);
}

const readHistory = readObject<RowHistory>({
  attempts: readNumber,
  unprocessed: readNumber,
  unclear: readFlag,
  startedAt: optional(readText),
  lastCode: optional(readText),
  lastMessage: optional(readText),
  lastStatus: optional(readNumber),
});

const readTask = readObject<Omit<RowTask, 'accountedClaims'>>({
  run: readText,
  row: readNumber,
  operation: readText,
  subject: readText,
  path: readText,
  body: readText,
  history: optional(readHistory),
});

const readResult = readObject<RowResult>({
  row: readNumber,
  operation: readText,
  outcome: oneOf(outcomes),
  code: readText,
  message: readText,
  httpStatus: optional(readNumber),
  attempts: readNumber,
  unprocessed: optional(readNumber),
  unclear: readFlag,
  startedAt: optional(readText),
  finishedAt: optional(readText),
  durationMs: optional(readNumber),
  duplicateOf: optional(readNumber),
  columns: optional(readTexts),
});

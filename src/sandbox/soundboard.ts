/** Interface document, section 2.6. */

import type { z } from 'zod';
import { fileTypes } from './enums.ts';
import { generatedTime } from './generate.ts';
import {
  type FieldKind,
  int64,
  type Message,
  message,
  oneOf,
  repeated,
  string,
  timestamp,
} from './messages.ts';
import { type Random, randomFor } from './random.ts';
import { identifier, type RequestFields, size, text } from './request-fields.ts';

/** What a type of field is in an answer and in a request, and the value of a field that was never set. */
interface FieldType {
  readonly answer: FieldKind;
  readonly request: (fields: RequestFields) => z.ZodType;
  readonly unset?: unknown;
}

const types = {
  identifier: { answer: int64, request: () => identifier },
  text: { answer: string, request: () => text, unset: '' },
  time: { answer: timestamp, request: (fields) => fields.time, unset: '' },
  fileType: { answer: oneOf(fileTypes), request: (fields) => fields.fileType, unset: fileTypes[0] },
  size: { answer: int64, request: () => size, unset: 0 },
} satisfies Readonly<Record<string, FieldType>>;

/** What the values of an entry are generated from. The entry is of a WAV file of 8,000 bytes a second. */
interface Seed {
  readonly id: bigint;
  readonly seconds: number;
  readonly random: Random;
}

/** `generated` draws random numbers in the order of the list: a field at the end leaves the values of the others as they are. */
const fields = {
  soundboard_id: { type: 'identifier', generated: ({ id }: Seed) => id },
  file_name: { type: 'text', generated: ({ id }: Seed) => `recording-${id}.wav` },
  file_type: { type: 'fileType', generated: (): string => fileTypes[0] },
  title: { type: 'text', generated: ({ id }: Seed) => `Recording ${id}` },
  description: {
    type: 'text',
    generated: ({ random }: Seed) => (random.chance(0.5) ? `Played in queue ${random.integer(1, 30)}` : ''),
  },
  date_created: { type: 'time', generated: ({ random }: Seed) => generatedTime(random, 'first') },
  last_modified: { type: 'time', generated: ({ random }: Seed) => generatedTime(random, 'second') },
  file_size: { type: 'size', generated: ({ seconds }: Seed) => 44 + 8000 * seconds },
  recording_length: { type: 'size', generated: ({ seconds }: Seed) => seconds },
} satisfies Readonly<Record<string, { type: keyof typeof types; generated: (seed: Seed) => unknown }>>;

type FieldName = keyof typeof fields;

/** A soundboard entry (interface document, section 2.6). */
export type Soundboard = { [Name in FieldName]: ReturnType<(typeof fields)[Name]['generated']> };

const list = Object.entries(fields).map(([name, { type, generated }]) => {
  const { answer, request, unset }: FieldType = types[type];
  return { name, answer, request, unset, generated };
});

type ListedField = (typeof list)[number];

function byName<Value>(value: (field: ListedField) => Value): Record<string, Value> {
  return Object.fromEntries(list.map((field) => [field.name, value(field)]));
}

export function generateSoundboard(seed: bigint, id: bigint): Soundboard {
  const random = randomFor(seed, 'soundboard', id);
  const entry = { id, seconds: random.integer(2, 300), random };
  return byName(({ generated }) => generated(entry)) as Soundboard;
}

/** The fields that an update can change, as if they were never set. */
const { soundboard_id: _, ...unset } = byName((field) => field.unset);

/** An entry after an update, by what the service does with fields that are left out or empty. */
export const updateRules: Readonly<
  Record<'merge' | 'replace' | 'presence', (entry: Soundboard, given: Partial<Soundboard>) => Soundboard>
> = {
  merge: (entry, given) => ({ ...entry, ...given }),
  replace: (entry, given) => ({ ...entry, ...unset, ...given }),
  presence: (entry, given) => ({
    ...entry,
    ...Object.fromEntries(Object.entries(given).filter(([name, value]) => !isUnset(name, value))),
  }),
};

function isUnset(name: string, value: unknown): boolean {
  return value === '' || String(value) === String(unset[name]);
}

/** An entry in an answer. */
export const soundboard: Message = message(byName(({ answer }) => answer));

export const soundboardsAnswer = message({ soundboards: repeated(soundboard) });

/** An entry in a request to update it. */
export function soundboardIn(
  request: RequestFields,
): z.ZodType<{ readonly soundboard_id: bigint } & Readonly<Record<string, unknown>>> {
  return request.message(byName((field) => field.request(request))) as unknown as ReturnType<
    typeof soundboardIn
  >;
}

import type { z } from 'zod';
import { entityId, object, type Reading, readIdentifier, schemaOf } from '../src/engine/api/reading.ts';
import { defineOperation } from '../src/engine/operation/operation.ts';
import { type EntryOf, entryReader, type InputOf, objectWriter } from './typed-fields.ts';

const text = { type: 'text', undoable: true } as const;
const time = { ...text, expects: 'time' } as const;
const count = { type: 'integer', undoable: true } as const;

/** The types of a file, from a public description of a service with this call; the interface document shows only the first one. */
const fileTypes = ['RECORDING_FILE_TYPE_WAV', 'RECORDING_FILE_TYPE_MP3'] as const;

/**
 * The fields of an entry, in the order of section 2.6. Columns, request, comparison and typed client are made from this list. Times and the
 * file type are sent unchanged: their format is not documented (section 2.7).
 */
export const soundboardFields = {
  soundboard_id: { type: 'integer', min: 1, required: true },
  file_name: text,
  file_type: { ...text, expects: fileTypes },
  title: text,
  description: text,
  date_created: time,
  last_modified: time,
  /** The size in bytes, by a public description of a service with this call: the interface document does not name the unit. */
  file_size: count,
  /** The length in seconds, by a public description of a service with this call. */
  recording_length: count,
} as const;

type FieldName = keyof typeof soundboardFields;

const names = Object.keys(soundboardFields) as readonly FieldName[];
const changeable = names.filter((name) => name !== 'soundboard_id');

/** The fields to update: only the given ones are sent. Whether the service keeps or resets the others is not documented. */
export interface UpdateSoundboardInput extends InputOf<typeof soundboardFields> {}

/** A recording file with a title, a description and file metadata, as answers have it (interface document, section 2.6). */
export interface Soundboard extends EntryOf<typeof soundboardFields> {}

const soundboard = entryReader(soundboardFields);

/** Reads a soundboard from parsed JSON. Leaves out unknown and unreadable fields. */
export const soundboardSchema: z.ZodType<Soundboard> = schemaOf(soundboard);

/** The answer to an update (interface document, section 4.2). */
export interface UpdateSoundboardAnswer {
  readonly soundboardId: bigint;
}

const answer = object({ soundboardId: entityId });

export function readUpdateSoundboardAnswer(
  soundboardId: string,
  body: unknown,
): Reading<UpdateSoundboardAnswer> {
  const received = answer(body)?.soundboardId;
  const identifier = readIdentifier('soundboard_id', soundboardId, received);
  return identifier.ok ? { ok: true, value: { soundboardId: identifier.value } } : identifier;
}

export function changesNothing(row: Readonly<Partial<Record<FieldName, string>>>): boolean {
  return changeable.every((name) => row[name] === undefined);
}

const entryJson = objectWriter(soundboardFields);

/** The operation of section 4.2 of the interface document. */
export const updateSoundboard = defineOperation({
  name: 'update-soundboard',
  thing: 'soundboard',
  done: 'updated',
  summary: 'Change soundboard entries (stored recordings)',
  fields: soundboardFields,
  subject: 'soundboard_id',
  check: (row) =>
    changesNothing(row) ? `changes nothing; give at least one of ${changeable.join(', ')}` : undefined,
  request: (row) => ({
    path: '/api/v1alpha1/org/soundboard/update',
    body: `{"soundboard":${entryJson(row)}}`,
  }),
  interpret: (body, soundboardId) => readUpdateSoundboardAnswer(soundboardId, body),
  columns: { soundboard_id: ({ soundboardId }) => soundboardId },
  repeatable: true,
  // The interface document does not say whether an update keeps fields that it leaves out.
  mayReset: true,
  // The permission to update, from a public description of a service with this call.
  permission: 'PERMISSION_SOUNDBOARD_EDIT',
  list: {
    name: 'soundboards',
    // The list is from a public description of a service with this call. One answer has all entries.
    request: () => ({ path: '/api/v1alpha1/org/soundboard/list', body: '{}' }),
    entries: 'soundboards',
    read(entry) {
      const read = soundboard(entry);
      // A missing file type is WAV, the first of the types: services leave out zero values.
      return read && { ...read, fileType: read.fileType ?? fileTypes[0] };
    },
    fields: names,
    columns: {},
    absent: 'does not exist',
    computed: ['last_modified'],
    permission: 'PERMISSION_SOUNDBOARD_VIEW',
  },
});

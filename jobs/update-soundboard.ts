import { listSoundboardsRequest } from '../src/engine/api/endpoints/lists.ts';
import {
  readUpdateSoundboardAnswer,
  updateSoundboardRequest,
} from '../src/engine/api/endpoints/update-soundboard.ts';
import { soundboardEntry } from '../src/engine/api/model/entities.ts';
import { defineOperation } from '../src/engine/operation/operation.ts';

const text = { type: 'text', undoable: true } as const;
const time = { ...text, expects: 'time' } as const;
const count = { type: 'integer', undoable: true } as const;

/** From a public description of a service with this call; the document shows only the first one. */
const fileTypes = ['RECORDING_FILE_TYPE_WAV', 'RECORDING_FILE_TYPE_MP3'] as const;

/**
 * Fields that a row may change, in the order of section 2.6. Times and the file type are sent unchanged. By a public description of a
 * service with this call, `file_size` is in bytes and `recording_length` in seconds.
 */
const changeable = {
  file_name: text,
  file_type: { ...text, expects: fileTypes },
  title: text,
  description: text,
  date_created: time,
  last_modified: time,
  file_size: count,
  recording_length: count,
} as const;

const names = Object.keys(changeable) as readonly (keyof typeof changeable)[];

/** Interface document, section 4.2. */
export const updateSoundboard = defineOperation({
  name: 'update-soundboard',
  thing: 'soundboard',
  done: 'updated',
  summary: 'Change soundboard entries (stored recordings)',
  fields: { soundboard_id: { type: 'integer', min: 1, required: true }, ...changeable },
  subject: 'soundboard_id',
  check: (row) =>
    names.some((name) => row[name] !== undefined)
      ? undefined
      : `changes nothing; give at least one of ${names.join(', ')}`,
  request: (row) =>
    updateSoundboardRequest({
      soundboardId: row.soundboard_id,
      fileName: row.file_name,
      fileType: row.file_type,
      title: row.title,
      description: row.description,
      dateCreated: row.date_created,
      lastModified: row.last_modified,
      fileSize: row.file_size,
      recordingLength: row.recording_length,
    }),
  interpret: (body, soundboardId) => readUpdateSoundboardAnswer(soundboardId, body),
  columns: { soundboard_id: ({ soundboardId }) => soundboardId },
  repeatable: true,
  // The document does not say whether an update keeps fields that it leaves out.
  mayReset: true,
  // From a public description of a service with this call.
  permission: 'PERMISSION_SOUNDBOARD_EDIT',
  list: {
    name: 'soundboards',
    request: listSoundboardsRequest,
    entries: 'soundboards',
    read(entry) {
      const read = soundboardEntry(entry);
      // Services leave out zero values: WAV is the first of the file types.
      return read && { ...read, fileType: read.fileType ?? fileTypes[0] };
    },
    fields: ['soundboard_id', ...names],
    columns: {},
    absent: 'does not exist',
    computed: ['last_modified'],
    permission: 'PERMISSION_SOUNDBOARD_VIEW',
  },
});

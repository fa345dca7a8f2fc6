import { z } from 'zod';
import {
  readUpdateSoundboardAnswer,
  updateSoundboardRequest,
} from '../src/api/endpoints/update-soundboard.ts';
import { defineOperation, type Field } from '../src/operation/operation.ts';
import { integerField, textField } from '../src/operation/row-fields.ts';

const text = textField({ isIdentifier: false }).optional();
const count = integerField({ min: 0 }).optional();

const schema = z
  .object({
    soundboard_id: integerField({ min: 1, missing: 'missing; every row needs the column soundboard_id' }),
    file_name: text,
    file_type: text,
    title: text,
    description: text,
    date_created: text,
    last_modified: text,
    file_size: count,
    recording_length: count,
  })
  .check((context) => {
    if (changeable.some((name) => context.value[name] !== undefined)) return;
    const message = `changes nothing; give at least one of ${changeable.join(', ')}`;
    context.issues.push({ code: 'custom', message, input: context.value });
  });

type Row = z.infer<typeof schema>;

/** The fields that a row may change, in the order of section 2.6. */
const descriptions = {
  file_name: 'Name of the recording file',
  file_type: 'Enum value such as RECORDING_FILE_TYPE_WAV; sent as it is',
  title: 'Title of the entry',
  description: 'Description of the entry',
  date_created: 'Time, sent as it is',
  last_modified: 'Time, sent as it is',
  file_size: 'Size of the file, 0 to 9223372036854775807',
  recording_length: 'Length of the recording, 0 to 9223372036854775807',
} as const satisfies { readonly [Name in keyof Row]?: string };

const changeable = Object.keys(descriptions) as readonly (keyof typeof descriptions)[];

/** Interface document, section 4.2. */
export const updateSoundboard = defineOperation<Row>({
  name: 'update-soundboard',
  thing: 'soundboard',
  summary: 'Change soundboard entries (stored recordings)',
  fields: [
    {
      name: 'soundboard_id',
      type: 'integer',
      required: true,
      description: 'Id of the soundboard entry, 1 to 9223372036854775807',
    },
    ...changeable.map(
      (name): Field => ({
        name,
        type: name === 'file_size' || name === 'recording_length' ? 'integer' : 'string',
        required: false,
        description: descriptions[name],
      }),
    ),
  ],
  schema,
  takesOldValues: true,
  subject: (row) => row.soundboard_id,
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
  columns: ['soundboard_id'],
  check: (subject, body) => {
    const reading = readUpdateSoundboardAnswer(subject, body);
    return reading.ok
      ? { ok: true, columns: { soundboard_id: String(reading.value.soundboardId) } }
      : reading;
  },
  // Doing it twice changes nothing more, so no refusal can mean that it has been done.
  meansAlreadyApplied: () => false,
});

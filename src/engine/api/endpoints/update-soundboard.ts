/** Interface document, section 4.2. */

import { type Int64Input, int64Json, requireInt64 } from '../int64.ts';
import type { FileType } from '../model/entities.ts';
import { entityId, object, type Reading, readIdentifier } from '../model/reading.ts';
import type { ApiRequest } from '../request.ts';

/** Only the given fields are sent; whether the service keeps or resets the others is not documented. */
export interface UpdateSoundboardInput {
  /** From 1 to 9223372036854775807. */
  readonly soundboardId: Int64Input;
  readonly fileName?: string | undefined;
  readonly fileType?: FileType | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** Sent as it is: the format is not documented (section 2.7). */
  readonly dateCreated?: string | undefined;
  /** Sent as it is: the format is not documented (section 2.7). */
  readonly lastModified?: string | undefined;
  /** From 0; most likely in bytes, though the document does not name the unit. */
  readonly fileSize?: Int64Input | undefined;
  /** From 0; most likely in seconds, though the document does not name the unit. */
  readonly recordingLength?: Int64Input | undefined;
}

/** Section 4.2. */
export interface UpdateSoundboardAnswer {
  readonly soundboardId: bigint;
}

const inputNames: ReadonlySet<string> = new Set<keyof UpdateSoundboardInput>([
  'soundboardId',
  'fileName',
  'fileType',
  'title',
  'description',
  'dateCreated',
  'lastModified',
  'fileSize',
  'recordingLength',
]);

const path = '/api/v1alpha1/org/soundboard/update';

const answer = object({ soundboardId: entityId });

/**
 * The same input always gives the same text, fields in the order of section 2.6.
 *
 * @throws RangeError when an integer is not exact or out of its range, a text is not a string, no field is given, or the service does not
 * know a field
 */
export function updateSoundboardRequest(input: UpdateSoundboardInput): ApiRequest {
  const { fileSize, recordingLength } = input;
  for (const name in input) {
    if (!inputNames.has(name))
      throw new RangeError(`${name} is not a field of a soundboard entry: use ${[...inputNames].join(', ')}`);
  }
  const identifier = `"soundboard_id":${int64Json(requireInt64('soundboardId', input.soundboardId, 1))}`;
  let fields = identifier;
  fields += stringField('file_name', input.fileName);
  fields += stringField('file_type', input.fileType);
  fields += stringField('title', input.title);
  fields += stringField('description', input.description);
  fields += stringField('date_created', input.dateCreated);
  fields += stringField('last_modified', input.lastModified);
  fields += sizeField('file_size', 'fileSize', fileSize);
  fields += sizeField('recording_length', 'recordingLength', recordingLength);
  if (fields === identifier)
    throw new RangeError('the update changes nothing: give at least one field besides soundboardId');
  return { path, body: `{"soundboard":{${fields}}}` };
}

export function readUpdateSoundboardAnswer(
  soundboardId: string,
  body: unknown,
): Reading<UpdateSoundboardAnswer> {
  const received = answer(body)?.soundboardId;
  const identifier = readIdentifier('soundboard_id', soundboardId, received);
  return identifier.ok ? { ok: true, value: { soundboardId: identifier.value } } : identifier;
}

function stringField(name: string, value: string | undefined): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') throw new RangeError(`${name} must be text`);
  return `,"${name}":${JSON.stringify(value)}`;
}

/** @param argument names the value in errors */
function sizeField(name: string, argument: string, value: Int64Input | undefined): string {
  return value === undefined ? '' : `,"${name}":${int64Json(requireInt64(argument, value, 0))}`;
}

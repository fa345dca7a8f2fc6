import type { z } from 'zod';
import { integer, type OpenEnum, object, type Read, type ReadBy, schemaOf, text, time } from './reading.ts';

/** Value seen in the interface document, section 2.6; the complete set is not documented. */
export type FileType = OpenEnum<'RECORDING_FILE_TYPE_WAV'>;

const soundboard = object({
  soundboardId: integer,
  fileName: text,
  fileType: text as Read<FileType>,
  title: text,
  description: text,
  /** Opaque time. */
  dateCreated: time,
  /** Opaque time. */
  lastModified: time,
  /** The unit is not documented (section 2.7). */
  fileSize: integer,
  /** The unit is not documented (section 2.7). */
  recordingLength: integer,
});

/** Interface document, section 2.6: a recording file with a title, a description and file metadata. */
export interface Soundboard extends ReadBy<typeof soundboard> {}

/** A soundboard entry for zod. */
export const soundboardSchema: z.ZodType<Soundboard> = schemaOf(soundboard);

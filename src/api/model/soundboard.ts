import type { z } from 'zod';
import { integer, type OpenEnum, object, schemaOf, text, time } from './reading.ts';

/** Value seen in the interface document, section 2.6; the complete set is not documented. */
export type FileType = OpenEnum<'RECORDING_FILE_TYPE_WAV'>;

/** Interface document, section 2.6: a recording file with a title, a description and file metadata. */
export interface Soundboard {
  readonly soundboardId?: bigint | undefined;
  readonly fileName?: string | undefined;
  readonly fileType?: FileType | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** Opaque time. */
  readonly dateCreated?: string | undefined;
  /** Opaque time. */
  readonly lastModified?: string | undefined;
  /** The unit is not documented (section 2.7). */
  readonly fileSize?: bigint | undefined;
  /** The unit is not documented (section 2.7). */
  readonly recordingLength?: bigint | undefined;
}

/** Reads a soundboard entry (section 2.6). */
export const soundboardSchema: z.ZodType<Soundboard> = schemaOf(
  object<Soundboard>({
    soundboardId: integer,
    fileName: text,
    fileType: text,
    title: text,
    description: text,
    dateCreated: time,
    lastModified: time,
    fileSize: integer,
    recordingLength: integer,
  }),
);

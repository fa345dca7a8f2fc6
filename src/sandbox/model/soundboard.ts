import type { Integer } from './integer.ts';

/** The soundboard entry of the interface document, section 2.6; one from a state file may have further fields. */
export interface Soundboard {
  readonly soundboard_id: Integer;
  readonly file_name?: string;
  readonly file_type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly date_created?: string;
  readonly last_modified?: string;
  readonly file_size?: Integer;
  readonly recording_length?: Integer;
}

/** The fields that a request can give beside the identifier. */
export type SoundboardFields = Omit<Soundboard, 'soundboard_id'>;

/** What happens to fields that an update leaves out (not said in the document): they stay, or they are removed. */
export const omittedFields = ['keep', 'reset'] as const;
export type OmittedFields = (typeof omittedFields)[number];

/**
 * The entry after an update. `last_modified` is the service's own: it is the time of the update, whatever was sent.
 * `date_created` stays when it is left out, even where other fields are reset.
 */
export function updated(
  soundboard: Soundboard,
  fields: SoundboardFields,
  omitted: OmittedFields,
  time: string,
): Soundboard {
  const { soundboard_id, date_created } = soundboard;
  const kept = omitted === 'keep' ? soundboard : { soundboard_id, ...(date_created && { date_created }) };
  return { ...kept, ...fields, last_modified: time };
}

import type { z } from 'zod';
import type { choicesSchema, draftSchema, plannedSchema, sourceSchema } from './draft-schema.ts';

/** What a plan needs to know besides its rows, as the person has answered on the page. */
export type Choices = Readonly<z.infer<typeof choicesSchema>>;

/** What `cqbatch plan --json` says, as far as the page needs it. */
export type Planned = Readonly<z.infer<typeof plannedSchema>>;

export type DraftSource = Readonly<z.infer<typeof sourceSchema>>;

/** A run that is prepared on a page. The server treats what the browser sends of it, and the page every text in it, as hostile. */
export type Draft = Readonly<z.infer<typeof draftSchema>>;

/** What a list of drafts shows. */
export type DraftBrief = Pick<Draft, 'id' | 'madeAt' | 'source'> & {
  /** The number of calls of the plan. Undefined without a plan that can be started. */
  readonly calls: number | undefined;
};

export function briefOf({ id, madeAt, source, planned }: Draft): DraftBrief {
  return { id, madeAt, source, calls: planned?.plan_sha256 === undefined ? undefined : planned.callable };
}

export function draftName({ source }: Pick<Draft, 'source'>): string {
  return source.kind === 'file'
    ? source.name
    : `${source.kind === 'retry' ? 'Retry' : 'Undo'} of ${source.run}`;
}

/** The largest manifest that a page accepts, in bytes. Larger ones are for the command line. */
export const mostUploadBytes = 20_000_000;

/** What the page can prepare, and what the service offers for it. */
export interface StartOffer {
  /** The address to which all runs that are started here go. */
  readonly baseUrl: string;
  readonly rateGroup?: string | undefined;
  /** Whether a paused run holds back the other runs, as with the embedded datastore. */
  readonly oneRunAtATime: boolean;
  readonly operations: readonly {
    readonly name: string;
    readonly summary: string;
    readonly fields: readonly string[];
  }[];
  readonly lists: readonly EditableList[];
}

/** A list of the service whose entries a person can edit in a table. */
export interface EditableList {
  /** `soundboards` */
  readonly name: string;
  /** The operation that changes an entry. */
  readonly operation: string;
  /** The field that identifies an entry. */
  readonly subject: string;
  /** The fields that an edit can change. */
  readonly fields: readonly string[];
}

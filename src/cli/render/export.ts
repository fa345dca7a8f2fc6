import { shellLine } from '../../base/text/command-words.ts';
import { count, duration } from '../../base/text/format.ts';
import type { ChosenEntries } from '../../engine/list/chosen-entries.ts';
import { listedFields } from '../../engine/list/compare-entry.ts';
import { changedListText } from '../../engine/list/list-failure.ts';
import type { ListReader } from '../../engine/list/list-reader.ts';
import { listedWords, type OperationList } from '../../engine/operation/list-definition.ts';
import type { Operation } from '../../engine/operation/operation.ts';
import type { Settings } from '../../settings/settings.ts';

export interface Export {
  readonly reader: Pick<ListReader, 'listed' | 'repeats' | 'unreadable' | 'pages' | 'waiting' | 'silentMs'>;
  readonly entries: Pick<ChosenEntries, 'operation' | 'chosen' | 'choice' | 'unfit'>;
}

/** The progress of an export: `deleted evaluations: 1,240 listed, 412 chosen  waiting 12 s (Retry-After: 90)` */
export function readingText(
  list: OperationList,
  reader: Export['reader'],
  chosen?: ChosenEntries['chosen'],
): string {
  const choice = chosen === undefined ? '' : `, ${count(chosen)} chosen`;
  return withWait(`${listedWords(list)}: ${count(reader.listed)} listed${choice}`, reader);
}

/** The counts of a list, and why its reading waits. */
export function withWait(counts: string, reader: Waiting): string {
  const wait = waitText(reader);
  return wait === undefined ? counts : `${counts}  ${wait}`;
}

type Waiting = Pick<ListReader, 'waiting' | 'silentMs'>;

/** A wait for an answer that is longer than this is shown. */
const shownWaitMs = 5_000;

function waitText({ waiting, silentMs }: Waiting): string | undefined {
  if (waiting !== undefined) {
    const { until, why } = waiting;
    return `waiting ${duration(Math.max(0, until - performance.now()) / 1_000)} (${why})`;
  }
  return silentMs < shownWaitMs ? undefined : `no answer for ${duration(silentMs / 1_000)}`;
}

/** The result: `Deleted evaluations: 1,240 listed, 412 chosen, 825 not chosen, 3 left out (is not recoverable: 3).` */
export function exportText({ reader, entries }: Export): string {
  const { operation, chosen, choice, unfit } = entries;
  const words = listedWords(operation.list);
  const reasons = [...unfit].map(([reason, number]) => `${reason}: ${count(number)}`);
  const parts = [
    `${count(reader.listed)} listed`,
    `${count(chosen)} chosen`,
    ...(choice === undefined || choice.leftOut === 0 ? [] : [`${count(choice.leftOut)} not chosen`]),
    ...(unfit.size === 0 ? [] : [`${count(unfitOf(entries))} left out (${reasons.join(', ')})`]),
  ];
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}: ${parts.join(', ')}.`;
}

function unfitOf({ unfit }: Export['entries']): number {
  return [...unfit.values()].reduce((sum, each) => sum + each, 0);
}

/** Why an export has no entry to write. */
export function nothingText({ reader, entries }: Export): string {
  const { operation, choice } = entries;
  if (reader.listed === 0) return `The service lists no ${listedWords(operation.list)}.`;
  return choice?.chosen === 0 ? choice.whyNothing() : exportText({ reader, entries });
}

export function exportWarnings({ reader, entries }: Export): readonly string[] {
  const { repeats, unreadable } = reader;
  const { thing, subject } = entries.operation;
  const { incomparable = [] } = entries.choice ?? {};
  return [
    ...(repeats === 0
      ? []
      : [`${changedListText(entries.operation.list, repeats)}: export it again when it does not change`]),
    ...(unreadable === 0
      ? []
      : [
          `${count(unreadable)} of the entries listed have no readable ${subject}, so no ${thing} is known for them: they are left out.`,
        ]),
    ...incomparable,
  ];
}

export function exportDocument({ reader, entries }: Export, file: string): object {
  const { operation, chosen, choice, unfit } = entries;
  return {
    list: operation.list.name,
    operation: operation.name,
    file,
    listed: reader.listed,
    chosen,
    not_chosen: choice?.leftOut ?? 0,
    undecided: choice?.undecided ?? 0,
    left_out: Object.fromEntries(unfit),
    listed_twice: reader.repeats,
    unreadable: reader.unreadable,
    pages: reader.pages,
  };
}

/** The command that plans the rows of an exported file. */
export function planCommand(
  file: string,
  operation: ChosenEntries['operation'],
  { operations, settings }: { readonly operations: readonly Operation[]; readonly settings: Settings },
): string {
  const given = new Set([...operation.list.fields, ...Object.keys(settings.default ?? {})]);
  const missing = operation.fields.filter(({ name, required }) => required && !given.has(name));
  const values = missing.flatMap(({ name, option }) =>
    option === undefined
      ? ['--default', `${name}=VALUE`]
      : [`--${name.replaceAll('_', '-')}`, option.slice(1, -1).toUpperCase()],
  );
  const others = operations.filter(({ fields }) => fields.some(({ name }) => name === operation.subject));
  const words = [
    ...['plan', file],
    ...(others.length > 1 ? ['--operation', operation.name] : []),
    ...values,
    // With --compare, the plan leaves out the rows that the user has not edited.
    ...(listedFields(operation, operation.list).length > 0 ? ['--compare'] : []),
  ];
  return `cqbatch ${shellLine(words)}`;
}

import { shortened } from '../../../base/text/printable.ts';
import type { RowResult } from '../../../domain/row-result.ts';
import type { Outcome } from '../../../domain/terms.ts';
import { messageOf } from '../report-columns.ts';
import { differingPart, type MessageParts, messageParts } from './message-kind.ts';
import type { MessageGroup } from './page-data.ts';

/** The most kinds of messages that are counted for a code. Rows with further kinds are counted together. */
const mostKinds = 500;
/** The most groups of a code on a page, besides the one of all other messages. */
const mostGroups = 8;
/** The most characters of values that a kind keeps. Further values count as different. */
const mostCharacters = 1_000;
const longestExample = 300;

/** Counts rows by code and kind of message, in one pass. Memory depends on the number of codes. */
export class MessageGroups {
  readonly #codes = new Map<string, MessagesOfCode>();

  add(result: RowResult): void {
    const { outcome, code } = result;
    const key = `${outcome} ${code}`;
    let messages = this.#codes.get(key);
    if (messages === undefined) {
      messages = new MessagesOfCode(outcome, code);
      this.#codes.set(key, messages);
    }
    messages.add(result);
  }

  /** All groups, code by code, the most frequent first; other messages come last. The groups of a code add up to its rows. */
  all(): readonly MessageGroup[] {
    return [...this.#codes.values()].flatMap((messages) => messages.groups());
  }
}

interface Counts {
  count: number;
  unclear: number;
}

/** The rows with one kind of message. */
interface CountedKind extends Counts {
  readonly kind: string;
  /** The values that all messages have in common, in the order of `…` in the kind. Undefined for a value that differs. */
  readonly values: (string | undefined)[];
  /** The first message. */
  readonly example: string;
  readonly row: number;
}

class MessagesOfCode {
  readonly #outcome: Outcome;
  readonly #code: string;
  readonly #kinds = new Map<string, CountedKind>();
  readonly #others: Counts = { count: 0, unclear: 0 };

  constructor(outcome: Outcome, code: string) {
    this.#outcome = outcome;
    this.#code = code;
  }

  add(result: RowResult): void {
    const counts = this.#countsOf(result);
    counts.count++;
    if (result.unclear) counts.unclear++;
  }

  groups(): readonly MessageGroup[] {
    const { outcome, code } = { outcome: this.#outcome, code: this.#code };
    const kinds = [...this.#kinds.values()].toSorted((a, b) => b.count - a.count || a.row - b.row);
    // One group more needs no more room than a line for the others.
    const isOneMore = kinds.length === mostGroups + 1 && this.#others.count === 0;
    const shown = kinds.slice(0, isOneMore ? kinds.length : mostGroups);
    const others = [this.#others, ...kinds.slice(shown.length)].reduce((sum, { count, unclear }) => ({
      count: sum.count + count,
      unclear: sum.unclear + unclear,
    }));
    return [
      ...shown.map((kind) => ({ outcome, code, ...groupOf(kind) })),
      ...(others.count === 0
        ? []
        : [{ outcome, code, kind: '', message: '', ...others, isRest: true as const }]),
    ];
  }

  #countsOf(result: RowResult): Counts {
    const message = messageOf(result);
    const parts = messageParts(message);
    const existing = this.#kinds.get(parts.kind);
    if (existing !== undefined) {
      narrow(existing.values, parts.values);
      return existing;
    }
    if (this.#kinds.size >= mostKinds) return this.#others;
    const kind: CountedKind = {
      kind: parts.kind,
      values: boundedValues(parts),
      example: shortened(message, longestExample),
      row: result.row,
      count: 0,
      unclear: 0,
    };
    this.#kinds.set(parts.kind, kind);
    return kind;
  }
}

function boundedValues({ values }: MessageParts): (string | undefined)[] {
  let characters = 0;
  return values.map((value) => {
    characters += value?.length ?? 0;
    return characters > mostCharacters ? undefined : value;
  });
}

/** Leaves only the values that a further message has, too. */
function narrow(common: (string | undefined)[], values: MessageParts['values']): void {
  for (const [place, value] of values.entries()) if (common[place] !== value) common[place] = undefined;
}

function groupOf({ kind, values, example, row, count, unclear }: CountedKind) {
  const [start = '', ...texts] = kind.split(differingPart);
  const message = texts.reduce((text, next, place) => text + (values[place] ?? differingPart) + next, start);
  const differs = values.some((value) => value === undefined);
  return { kind, message, count, unclear, ...(differs && { example: { row, message: example } }) };
}

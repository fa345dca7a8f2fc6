import type { RowResult } from '../../../domain/row-result.ts';
import { messageOf } from '../report-columns.ts';
import type { MessageGroup } from './page-data.ts';

/** The most messages of a code. Rows with further messages are counted together. */
const mostMessages = 100;

/** The beginning of the message with `N` for each number. It ends with a whole character, because an address has no halves. */
export function messagePattern(message: string): string {
  return message
    .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|\d+/gi, 'N')
    .replace(/^(.{300}).*/su, '$1');
}

/** Counts rows by code and message. Memory depends on the number of codes. */
export class MessageGroups {
  readonly #groups = new Map<string, { -readonly [Key in keyof MessageGroup]: MessageGroup[Key] }>();
  /** The number of groups by code. */
  readonly #sizes = new Map<string, number>();

  add(result: RowResult): void {
    const group = this.#groupOf(result);
    group.count++;
    if (result.unclear) group.unclear++;
  }

  /** All groups, the most frequent first. */
  all(): readonly MessageGroup[] {
    return [...this.#groups.values()].toSorted((a, b) => b.count - a.count);
  }

  #groupOf(result: RowResult) {
    const { outcome, code } = result;
    const kind = `${outcome} ${code}`;
    const size = this.#sizes.get(kind) ?? 0;
    const wanted = messagePattern(messageOf(result));
    const message = size < mostMessages || this.#groups.has(`${kind} ${wanted}`) ? wanted : '';
    const existing = this.#groups.get(`${kind} ${message}`);
    if (existing !== undefined) return existing;
    const group = { outcome, code, message, count: 0, unclear: 0 };
    this.#groups.set(`${kind} ${message}`, group);
    this.#sizes.set(kind, size + 1);
    return group;
  }
}

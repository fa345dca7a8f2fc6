import { expect } from 'vitest';
import type { LogEntry } from '../../src/sandbox/request-log.ts';

/** A manifest in which entries are edited more than once, and what must be sent for each. */
export interface Edits {
  readonly text: string;
  readonly rows: number;
  /** Titles by identifier, in the order of the manifest. */
  readonly titles: ReadonlyMap<string, readonly string[]>;
}

/** A number of edits for each of a number of entries, alternating among the entries. No edit repeats the previous one. */
export function editsCsv(entries: number, each: number): Edits {
  const titles = new Map<string, string[]>();
  const lines: string[] = [];
  for (let edit = 0; edit < each; edit += 1) {
    for (let at = 0; at < entries; at += 1) {
      const id = String(1 + ((at * 7 + edit) % entries));
      const known = titles.get(id) ?? [];
      titles.set(id, known);
      // Every third edit takes the one before the last back.
      const title = known.length % 3 === 2 ? (known.at(-2) ?? '') : `title ${known.length}`;
      known.push(title);
      lines.push(`${id},${title}`);
    }
  }
  return { text: `soundboard_id,title\n${lines.join('\n')}\n`, rows: lines.length, titles };
}

/**
 * Compares what the sandbox saw with the manifest: the edits of an entry in their order, each repeated only before the next
 * one. That none is sent before the one before has its result: the referee of test/simulation.
 */
export function expectInOrder({ titles }: Edits, log: readonly LogEntry[]): void {
  const seen = new Map<string, LogEntry[]>();
  for (const entry of log) seen.set(entry.id ?? '', [...(seen.get(entry.id ?? '') ?? []), entry]);
  for (const [id, expected] of titles) {
    const calls = seen.get(id) ?? [];
    const sent = calls.map(({ body = '' }) => JSON.parse(body).soundboard.title as string);
    expect(
      sent.filter((title, at) => title !== sent[at - 1]),
      id,
    ).toEqual(expected);
  }
}

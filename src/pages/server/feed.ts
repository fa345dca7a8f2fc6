import { repeat } from '../../base/async/repeat.ts';

interface Listener<Topic> {
  readonly topic: Topic;
  /** Receives the changed members of the snapshot as JSON, at first all members. */
  send(changes: string): void;
}

/** Reads what all topics need, and returns a function that makes the snapshot of one topic. */
type ReadSnapshots<Topic> = (topics: readonly Topic[]) => Promise<(topic: Topic) => object>;

/**
 * Sends each listener what has changed in its topic. Reads only while there are listeners, and during at most a tenth of the time. A
 * reading that fails is repeated.
 */
export function openEventFeed<Topic>(read: ReadSnapshots<Topic>, everyMs = 1_000) {
  const sentTo = new Map<Listener<Topic>, Map<string, string>>();
  let tookMs = 0;

  async function sendChanges(): Promise<void> {
    if (sentTo.size === 0) return;
    const start = performance.now();
    // A listener that comes while the snapshots are read gets the next one.
    const listeners = [...sentTo];
    const snapshotFor = await read(listeners.map(([{ topic }]) => topic));
    for (const [listener, sent] of listeners) {
      if (!sentTo.has(listener)) continue;
      const changes = Object.entries(snapshotFor(listener.topic)).filter(([name, member]) => {
        const json = JSON.stringify(member);
        if (json === sent.get(name)) return false;
        sent.set(name, json);
        return true;
      });
      if (changes.length > 0) listener.send(JSON.stringify(Object.fromEntries(changes)));
    }
    tookMs = performance.now() - start;
  }

  const readings = repeat(sendChanges, { everyMs: () => Math.max(everyMs, 10 * tookMs) });
  return {
    /** Adds a listener. @returns a function that removes it */
    listen(listener: Listener<Topic>): () => void {
      sentTo.set(listener, new Map());
      readings.now();
      return () => void sentTo.delete(listener);
    },
    close(): Promise<void> {
      sentTo.clear();
      return readings.stop();
    },
  };
}

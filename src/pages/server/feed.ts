import { repeat } from '../../base/async/repeat.ts';

interface Listener<Topic> {
  readonly topic: Topic;
  /** Receives the changed members of the snapshot as JSON, at first all. */
  send(changes: string): void;
}

/** Returns a function that makes the snapshot of a topic. */
type Look<Topic> = (topics: readonly Topic[]) => Promise<(topic: Topic) => object>;

/** Sends what has changed. Looks while there are listeners, during at most a tenth of the time. Repeats failed looks. */
export function openEventFeed<Topic>(look: Look<Topic>, everyMs = 1_000) {
  const sentTo = new Map<Listener<Topic>, Map<string, string>>();
  let tookMs = 0;

  async function sendChanges(): Promise<void> {
    if (sentTo.size === 0) return;
    const start = performance.now();
    // A listener that comes during the look gets the next snapshot.
    const listeners = [...sentTo];
    const snapshotFor = await look(listeners.map(([{ topic }]) => topic));
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

  const looks = repeat(sendChanges, { everyMs: () => Math.max(everyMs, 10 * tookMs) });
  return {
    /** @returns a function that stops listening */
    listen(listener: Listener<Topic>): () => void {
      sentTo.set(listener, new Map());
      looks.now();
      return () => void sentTo.delete(listener);
    },
    close(): Promise<void> {
      sentTo.clear();
      return looks.stop();
    },
  };
}

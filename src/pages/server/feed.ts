import { repeat } from '../../base/async/repeat.ts';

interface Listener<Topic> {
  readonly topic: Topic;
  /** Receives each document that differs from the previous one of the same name. */
  send(name: string, json: string): void;
}

/** Returns a function that makes the documents of a topic, by name, in the order of sending. */
type Look<Topic> = (topics: readonly Topic[]) => Promise<(topic: Topic) => Readonly<Record<string, object>>>;

/** Sends changed documents. Looks while there are listeners, during at most a tenth of the time. Repeats failed looks. */
export function openEventFeed<Topic>(look: Look<Topic>, everyMs = 1_000) {
  const sentTo = new Map<Listener<Topic>, Map<string, string>>();
  let tookMs = 0;

  async function sendChanges(): Promise<void> {
    if (sentTo.size === 0) return;
    const start = performance.now();
    const documentsFor = await look([...sentTo.keys()].map(({ topic }) => topic));
    for (const [listener, sent] of [...sentTo]) {
      for (const [name, document] of Object.entries(documentsFor(listener.topic))) {
        const json = JSON.stringify(document);
        if (!sentTo.has(listener) || json === sent.get(name)) continue;
        sent.set(name, json);
        listener.send(name, json);
      }
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

import { repeat } from '../repeat.ts';

/** A reader who wants to know how things stand. */
interface Listener<Topic> {
  /** What the reader is interested in besides. */
  readonly topic: Topic;
  /** Takes a document when it is another one than before. */
  send(json: string): void;
}

/** Begins a look for listeners with these topics; what it gives makes the document of each. */
type Look<Topic> = (topics: readonly Topic[]) => Promise<(topic: Topic) => object>;

/** Tells listeners how things stand, each what is new to it. */
export interface EventFeed<Topic> {
  /** @returns ends it */
  listen(listener: Listener<Topic>): () => void;
  close(): Promise<void>;
}

/** Looks, a tenth of the time at most, while there are listeners. A look that fails is repeated. */
export function openEventFeed<Topic>(look: Look<Topic>, everyMs = 1_000): EventFeed<Topic> {
  const told = new Map<Listener<Topic>, string>();
  let tookMs = 0;

  async function tell(): Promise<void> {
    if (told.size === 0) return;
    const begun = performance.now();
    const documentFor = await look([...told.keys()].map(({ topic }) => topic));
    for (const [listener, before] of [...told]) {
      const json = JSON.stringify(documentFor(listener.topic));
      if (!told.has(listener) || json === before) continue;
      told.set(listener, json);
      listener.send(json);
    }
    tookMs = performance.now() - begun;
  }

  const looks = repeat(tell, { everyMs: () => Math.max(everyMs, 10 * tookMs) });
  return {
    listen(listener) {
      told.set(listener, '');
      looks.now();
      return () => void told.delete(listener);
    },
    close() {
      told.clear();
      return looks.stop();
    },
  };
}

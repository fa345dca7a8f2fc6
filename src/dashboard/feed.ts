import { type Repeated, repeat } from '../repeat.ts';

/** Somebody who wants to know how things stand. */
export interface Listener<Topic> {
  /** What he is interested in besides. */
  readonly topic: Topic;
  /** Takes a document when it is another one than before. */
  send(json: string): void;
}

export interface EventFeedOptions<Topic> {
  /** Begins a look for listeners with these topics; what it gives makes the document of each. */
  readonly look: (topics: readonly Topic[]) => Promise<(topic: Topic) => Promise<object>>;
  readonly onError: (error: Error) => void;
  readonly everyMs?: number;
}

/** Looks, a tenth of the time at most, as long as anybody listens, and tells each what is new to him. */
export class EventFeed<Topic> {
  readonly #options: EventFeedOptions<Topic>;
  readonly #told = new Map<Listener<Topic>, string>();
  readonly #looks: Repeated;
  #tookMs = 0;

  constructor(options: EventFeedOptions<Topic>) {
    this.#options = options;
    const { onError, everyMs = 1_000 } = options;
    this.#looks = repeat(() => this.#tell(), {
      everyMs: () => Math.max(everyMs, 10 * this.#tookMs),
      onError,
    });
  }

  /** @returns ends it */
  listen(listener: Listener<Topic>): () => void {
    this.#told.set(listener, '');
    this.#looks.now();
    return () => void this.#told.delete(listener);
  }

  async close(): Promise<void> {
    this.#told.clear();
    await this.#looks.stop();
  }

  async #tell(): Promise<void> {
    if (this.#told.size === 0) return;
    const begun = performance.now();
    const documentFor = await this.#options.look([...this.#told.keys()].map(({ topic }) => topic));
    for (const listener of [...this.#told.keys()]) {
      const json = JSON.stringify(await documentFor(listener.topic));
      const isNew = this.#told.has(listener) && this.#told.get(listener) !== json;
      if (!isNew) continue;
      this.#told.set(listener, json);
      listener.send(json);
    }
    this.#tookMs = performance.now() - begun;
  }
}

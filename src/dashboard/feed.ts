import { type Repeated, repeat } from '../repeat.ts';

/** A reader who wants to know how things stand. */
interface Listener<Topic> {
  /** What the reader is interested in besides. */
  readonly topic: Topic;
  /** Takes a document when it is another one than before. */
  send(json: string): void;
}

/** Begins a look for listeners with these topics; what it gives makes the document of each. */
type Look<Topic> = (topics: readonly Topic[]) => Promise<(topic: Topic) => object>;

/** Looks, a tenth of the time at most, while there are listeners, and tells each what is new to it. A look that fails is repeated. */
export class EventFeed<Topic> {
  readonly #look: Look<Topic>;
  readonly #told = new Map<Listener<Topic>, string>();
  readonly #looks: Repeated;
  #tookMs = 0;

  constructor(look: Look<Topic>, everyMs = 1_000) {
    this.#look = look;
    this.#looks = repeat(() => this.#tell(), { everyMs: () => Math.max(everyMs, 10 * this.#tookMs) });
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
    const documentFor = await this.#look([...this.#told.keys()].map(({ topic }) => topic));
    for (const listener of [...this.#told.keys()]) {
      const json = JSON.stringify(documentFor(listener.topic));
      if (!this.#told.has(listener) || this.#told.get(listener) === json) continue;
      this.#told.set(listener, json);
      listener.send(json);
    }
    this.#tookMs = performance.now() - begun;
  }
}

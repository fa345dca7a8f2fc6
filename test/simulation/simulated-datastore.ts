import type { Datastore } from '../../src/engine/datastore/datastore.ts';
import type { ModelConnection } from './model-backend.ts';
import { modelDatastore } from './model-datastore.ts';
import type { StoredData } from './queue-data.ts';
import { type LosableKey, QueueModel } from './queue-model.ts';
import type { Marker } from './waiters.ts';
import type { SimulatedProcess, World } from './world.ts';

/** What the datastore and the network do to commands. */
export interface NetworkFaults {
  /** The longest travel time of a command, milliseconds, and how often one takes up to a thousand times as long. */
  readonly latencyMs: number;
  readonly slow: number;
  /** How often a connection breaks after a command. */
  readonly cut: number;
}

/** Commands that a process sent before it died arrive within this time, or never. */
const lateMs = 100;

/** A command under way, until it is answered. */
interface Command {
  readonly script: (model: QueueModel) => unknown;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A shared datastore with the connections to it. */
export class SimulatedDatastore {
  readonly model: QueueModel;
  isAway = false;
  /** How often it was emptied, and how often it has forgotten its last moments. */
  emptied = 0;
  forgot = 0;
  lostKeys = 0;
  /** Called when its connections break, and with the ids of all jobs when its data are replaced. */
  onBreak: (why: 'the datastore goes away' | 'a connection breaks') => void = () => {};
  onReplace: (ids: ReadonlySet<string>) => void = () => {};
  /** The process whose command is being executed. */
  client: SimulatedProcess | undefined;
  readonly #world: World;
  readonly faults: NetworkFaults;
  readonly #links = new Set<Link>();
  #copy: StoredData | undefined;
  #starts = 1;
  #marks = 0;

  constructor(world: World, faults: NetworkFaults) {
    this.#world = world;
    this.faults = faults;
    this.model = new QueueModel(() => world.now);
  }

  /** Names what a restart ends. */
  get start(): string {
    return String(this.#starts);
  }

  /** The datastore for one process. */
  openIn(process: SimulatedProcess): Datastore {
    const server = this;
    const open = (isProducer: boolean): Link => {
      const link = new Link(this, this.#world, process, isProducer);
      this.#links.add(link);
      if (this.isAway) link.cut();
      return link;
    };
    const connection = open(false);
    return {
      ...modelDatastore(connection, open(true)),
      get trouble() {
        return server.isAway ? 'does not answer' : undefined;
      },
      epoch: () => connection.ask((model) => `${server.#starts} ${model.mark(`mark ${server.#marks++}`)}`),
      get connectionEpoch() {
        return connection.epoch;
      },
      onReconnect: (listener) => connection.onReconnect(listener),
    };
  }

  /** It is killed and started again, with all its data. */
  restart(awayMs: number): void {
    if (this.isAway) return;
    this.#world.tell('the datastore is away');
    this.onBreak('the datastore goes away');
    this.isAway = true;
    for (const link of this.#links) link.cut();
    const come = (): void => {
      this.isAway = false;
      this.#starts += 1;
      this.#world.tell('the datastore is back');
      for (const link of this.#links)
        this.#world.later(link.reconnectMs(), () => link.connect(), { owner: null });
    };
    this.#world.later(awayMs, come, { owner: null });
  }

  /** FLUSHALL. */
  empty(): void {
    this.#world.tell('the datastore is emptied');
    this.emptied += 1;
    this.onReplace(new Set());
    this.model.replace();
  }

  /** @returns whether the key was there */
  lose(of: 'rows' | 'batches', key: LosableKey): boolean {
    const [name] = this.model.jobCounts().find(([queue]) => queue.startsWith(of)) ?? [];
    if (name === undefined || !this.model.lose(name, key)) return false;
    this.#world.tell(`the datastore loses the key ${key} of ${of}`);
    this.lostKeys += 1;
    return true;
  }

  keepCopy(): void {
    this.#world.tell('the datastore is copied');
    this.#copy = this.model.copy();
  }

  /** It is killed, and starts with the data of the copy. */
  putBack(awayMs: number): void {
    if (this.#copy === undefined || this.isAway) return;
    const copy = this.#copy;
    this.restart(awayMs);
    this.#world.tell('its older copy is put in place');
    this.forgot += 1;
    this.onReplace(new Set([...copy.queues.values()].flatMap(({ jobs }) => [...jobs.keys()])));
    this.model.replace(structuredClone(copy));
  }
}

/** A connection of a process, on which commands are executed and answered in order. */
class Link implements ModelConnection {
  readonly #server: SimulatedDatastore;
  readonly #world: World;
  readonly #process: SimulatedProcess;
  readonly #isProducer: boolean;
  #unanswered: Command[] = [];
  /** Commands and replies of an earlier connection do not count. */
  #connections = 0;
  #isConnected = true;
  #arrival = 0;
  #replied = 0;
  /** The start of the server that it was last connected to. */
  epoch: string | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(server: SimulatedDatastore, world: World, process: SimulatedProcess, isProducer: boolean) {
    this.#server = server;
    this.#world = world;
    this.#process = process;
    this.#isProducer = isProducer;
    if (!server.isAway) this.epoch = server.start;
  }

  onReconnect(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  ask<Reply>(script: (model: QueueModel) => Reply): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#process.step(() => {
        const command: Command = { script, resolve: resolve as Command['resolve'], reject };
        this.#unanswered.push(command);
        if (this.#isConnected) this.#send(command);
      });
    });
  }

  waitForMarker(queue: string, limitMs: number): { readonly marker: Promise<Marker | null>; cancel(): void } {
    let cancel = (): void => {};
    const marker = new Promise<Marker | null>((resolve) => {
      let isOver = false;
      const end = (woken: Marker | null): void => {
        if (isOver) return;
        isOver = true;
        this.#reply(this.#latency(), () => resolve(woken));
      };
      const forget = this.#server.model.waitForMarker(queue, end);
      this.#world.later(limitMs, () => cancel(), { owner: null });
      cancel = () => {
        forget();
        end(null);
      };
    });
    return { marker, cancel: () => cancel() };
  }

  /** A command without an answer may have been executed. */
  cut(): void {
    this.#connections += 1;
    this.#isConnected = false;
    if (!this.#isProducer) return;
    const rejected = this.#unanswered.splice(0);
    this.#reply(this.#latency(), () => {
      for (const { reject } of rejected)
        reject(new Error('The connection to Redis was lost before it replied.'));
    });
  }

  connect(): void {
    if (this.#server.isAway || this.#isConnected || this.#process.isDead) return;
    this.#isConnected = true;
    this.#arrival = 0;
    this.#replied = 0;
    const { start } = this.#server;
    this.#reply(0, () => {
      this.epoch = start;
      for (const listener of this.#listeners) listener();
    });
    for (const command of this.#unanswered) this.#send(command);
  }

  /** Each connection tries again after its own time. */
  reconnectMs(): number {
    return this.#world.random.between(50, 2_000);
  }

  #send(command: Command): void {
    const connection = this.#connections;
    this.#arrival = Math.max(this.#arrival, this.#world.now + this.#latency());
    const arrive = (): void => this.#arrive(command, connection);
    this.#world.later(this.#arrival - this.#world.now, arrive, { owner: null });
  }

  #arrive(command: Command, connection: number): void {
    const world = this.#world;
    const { isAway, model, faults } = this.#server;
    // Commands under way when the connection broke may have been read before the next connection was made.
    const isRead = connection === this.#connections || (!this.#isConnected && world.random.chance(0.5));
    // Commands of a dead process arrive at once or never, because its system ends its connections (docs/architecture.md).
    if (isAway || !isRead || world.now > this.#process.diedAt + lateMs) return;
    this.#server.client = this.#process;
    let answer: () => void;
    try {
      const reply = command.script(model);
      answer = () => command.resolve(reply);
    } catch (error) {
      answer = () => command.reject(error as Error);
    }
    if (connection !== this.#connections) return;
    if (world.random.chance(faults.cut)) {
      world.tell(`a connection of ${this.#process.name} breaks`);
      this.#server.onBreak('a connection breaks');
      this.cut();
      world.later(this.reconnectMs(), () => this.connect(), { owner: null });
      return;
    }
    this.#replied = Math.max(this.#replied, world.now + this.#latency());
    this.#reply(this.#replied - world.now, () => {
      if (connection !== this.#connections) return;
      this.#unanswered = this.#unanswered.filter((other) => other !== command);
      answer();
    });
  }

  #reply(delayMs: number, work: () => void): void {
    this.#world.later(delayMs, work, { owner: this.#process, kind: 'reply' });
  }

  #latency(): number {
    const { latencyMs, slow } = this.#server.faults;
    const { random } = this.#world;
    return random.between(0.05, latencyMs) * (slow > 0 && random.chance(slow) ? random.between(1, 1_000) : 1);
  }
}

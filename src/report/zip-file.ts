import type { FileHandle } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';

interface Entry {
  readonly name: Buffer;
  readonly offset: number;
  crc: number;
  size: number;
  compressed: number;
}

/** A ZIP archive of less than 4 GiB that is written into a file part by part, in memory that does not depend on their size. */
export class ZipFile {
  readonly #handle: FileHandle;
  readonly #entries: Entry[] = [];
  #at = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Adds a part; what its text is made of may take as long as it likes. */
  async add(name: string, text: AsyncIterable<string> | Iterable<string>): Promise<void> {
    const entry: Entry = { name: Buffer.from(name), offset: this.#at, crc: 0, size: 0, compressed: 0 };
    this.#entries.push(entry);
    await this.#write(localHeader(entry));
    const deflate = createDeflateRaw();
    const written = this.#drain(deflate, entry);
    for await (const chunk of text) {
      const bytes = Buffer.from(chunk);
      entry.crc = crc32(bytes, entry.crc);
      entry.size += bytes.length;
      if (!deflate.write(bytes)) await new Promise((resolve) => deflate.once('drain', resolve));
    }
    deflate.end();
    await Promise.all([finished(deflate), written]);
    // Now its sizes are known.
    await this.#handle.write(localHeader(entry), 0, undefined, entry.offset);
  }

  /** Writes the list of its parts, with which an archive ends. */
  async end(): Promise<void> {
    const offset = this.#at;
    for (const entry of this.#entries) await this.#write(centralHeader(entry));
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(this.#entries.length, 8);
    end.writeUInt16LE(this.#entries.length, 10);
    end.writeUInt32LE(this.#at - offset, 12);
    end.writeUInt32LE(offset, 16);
    await this.#write(end);
  }

  async #drain(deflate: AsyncIterable<Buffer>, entry: Entry): Promise<void> {
    for await (const bytes of deflate) {
      entry.compressed += bytes.length;
      await this.#write(bytes);
    }
  }

  async #write(bytes: Buffer): Promise<void> {
    await this.#handle.write(bytes, 0, bytes.length, this.#at);
    this.#at += bytes.length;
  }
}

/** Version 2.0, UTF-8 names, deflated, on the first day that ZIP knows. */
const facts = Buffer.from([20, 0, 0, 8, 8, 0, 0, 0, 0x21, 0]);

function localHeader(entry: Entry): Buffer {
  return Buffer.concat([Buffer.from('PK\x03\x04'), facts, sizes(entry), lengths(entry, 4), entry.name]);
}

function centralHeader(entry: Entry): Buffer {
  const place = Buffer.alloc(18);
  place.writeUInt16LE(entry.name.length, 0);
  place.writeUInt32LE(entry.offset, 14);
  const start = Buffer.from([0x50, 0x4b, 1, 2, 20, 0]);
  return Buffer.concat([start, facts, sizes(entry), place, entry.name]);
}

function sizes({ crc, compressed, size }: Entry): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32LE(crc, 0);
  bytes.writeUInt32LE(compressed, 4);
  bytes.writeUInt32LE(size, 8);
  return bytes;
}

function lengths({ name }: Entry, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUInt16LE(name.length, 0);
  return bytes;
}

/** The binary format of OpenSSH: texts with their length in front (RFC 4251, section 5). */

/** A text of OpenSSH: four bytes of length, then the bytes. */
export function sshText(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([sshNumber(bytes.length), bytes]);
}

export function sshNumber(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Reads numbers and texts one after the other. */
export class SshReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** @throws a RangeError at the end of the bytes */
  number(): number {
    const value = this.#bytes.readUInt32BE(this.#at);
    this.#at += 4;
    return value;
  }

  /** @throws a RangeError at the end of the bytes */
  text(): Buffer {
    const length = this.number();
    return this.#take(length);
  }

  rest(): Buffer {
    return this.#take(this.#bytes.length - this.#at);
  }

  #take(length: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    if (taken.length !== length) throw new RangeError('the text ends too early');
    this.#at += length;
    return taken;
  }
}

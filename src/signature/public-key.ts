import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { SshReader, sshText } from './ssh-format.ts';

export const keyType = 'ssh-ed25519';

/** Bytes of an Ed25519 key. */
export const keyLength = 32;

const correctForm = `write an OpenSSH public key, such as "${keyType} AAAAC3Nz…"; "ssh-keygen -y -f KEYFILE" prints it`;

/** An Ed25519 public key (RFC 8032) in OpenSSH's form (RFC 8709). */
export class PublicKey {
  /** `ssh-ed25519 AAAA…`, without a comment. */
  readonly text: string;
  /** As `ssh-keygen -l` prints it: `SHA256:…` */
  readonly fingerprint: string;
  readonly #key: KeyObject;

  /** @param bytes of the key itself: 32 */
  constructor(bytes: Buffer) {
    const blob = Buffer.concat([sshText(keyType), sshText(bytes)]);
    this.text = `${keyType} ${blob.toString('base64')}`;
    this.fingerprint = `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
    this.#key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') },
      format: 'jwk',
    });
  }

  /** The key as OpenSSH's programs exchange it. */
  get blob(): Buffer {
    return Buffer.from(this.text.slice(keyType.length + 1), 'base64');
  }

  verifies(data: Buffer, signature: Buffer): boolean {
    return verify(null, data, this.#key, signature);
  }
}

/**
 * Reads one line of an OpenSSH `.pub` or `authorized_keys` file without options; a comment after the key is ignored.
 *
 * @throws a RangeError with the correct form
 */
export function parsePublicKey(line: string): PublicKey {
  const [type, encoded = ''] = line.trim().split(/\s+/);
  if (type !== keyType) {
    const isOther = type !== undefined && /^(ssh|ecdsa|sk)-/.test(type);
    throw new RangeError(isOther ? `only keys of the type ${keyType} can sign, not ${type}` : correctForm);
  }
  try {
    return keyOfBlob(Buffer.from(encoded, 'base64'));
  } catch {
    throw new RangeError(correctForm);
  }
}

/** @throws a RangeError when the bytes are not an Ed25519 public key */
export function keyOfBlob(blob: Buffer): PublicKey {
  const reader = new SshReader(blob);
  const type = reader.text().toString();
  const bytes = reader.text();
  if (type !== keyType || bytes.length !== keyLength || reader.rest().length > 0)
    throw new RangeError(`this is not a key of the type ${keyType}`);
  return new PublicKey(bytes);
}

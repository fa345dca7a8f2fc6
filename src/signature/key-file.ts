import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { thisActor } from '../actor.ts';
import { createFile, ifThere, isOpenToOthers, readSmallFile, writeFileAtomically } from '../disk/files.ts';
import { usageError } from '../errors.ts';
import { onDisk, systemError } from '../system-error.ts';
import { escapeInvisible } from '../text/printable.ts';
import { shellWord } from '../text/shell-word.ts';
import { keyLength, keyOfBlob, keyType, PublicKey, parsePublicKey } from './public-key.ts';
import { signWithAgent } from './ssh-agent.ts';
import { SshReader, sshNumber, sshText } from './ssh-format.ts';

/** A key that signs. */
export interface SigningKey {
  readonly publicKey: PublicKey;
  /** @throws a usage error `KEY_LOCKED` when only the ssh-agent can use the key, and it does not */
  sign(data: Buffer): Promise<Buffer>;
}

/** The format of `ssh-keygen` (OpenSSH's PROTOCOL.key). */
const magic = 'openssh-key-v1\0';
const frame = { begin: '-----BEGIN OPENSSH PRIVATE KEY-----', end: '-----END OPENSSH PRIVATE KEY-----' };
/** Length of the encoded lines that `ssh-keygen` writes. */
const lineLength = 70;
/** A key without a passphrase is padded to a multiple of this. */
const blockSize = 8;

/**
 * Reads an OpenSSH Ed25519 key. The ssh-agent signs with a key that has a passphrase, and with one of which only the public part
 * is in the file.
 *
 * @param agent path of the agent's socket, as in `SSH_AUTH_SOCK`
 * @throws a usage error `KEY_NOT_FOUND`, `KEY_UNREADABLE` or `KEY_UNPROTECTED`
 */
export async function readSigningKey(path: string, agent: string | undefined): Promise<SigningKey> {
  const shown = escapeInvisible(path);
  const text = await ifThere(readSmallFile(path)).catch((error: Error) => {
    throw systemError(error, path) ?? unreadable(shown, error);
  });
  if (text === undefined)
    throw usageError(
      'KEY_NOT_FOUND',
      `${shown}: there is no such file. To make a key, type: cqbatch keys new ${escapeInvisible(shellWord(path))}`,
    );
  if (text.startsWith(keyType)) return keyOfAgent(path, publicKeyIn(shown, text), agent);
  const { publicKey, seed } = privateKeyIn(shown, text);
  if (seed === undefined) return keyOfAgent(path, publicKey, agent);
  if (await isOpenToOthers(path)) {
    throw usageError(
      'KEY_UNPROTECTED',
      `Other users may use ${shown}, so its signatures prove nothing: type "chmod 600 ${shellWord(path)}".`,
    );
  }
  return keyOfSeed(publicKey, seed);
}

/**
 * Makes a key without a passphrase: the private part in `path`, the public one in `path.pub`.
 *
 * @throws a usage error `KEY_EXISTS` when there is such a file
 */
export async function createKey(path: string): Promise<SigningKey> {
  const { user, host } = thisActor();
  const comment = `${user}@${host}`;
  const { d: secret = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const publicKey = new PublicKey(Buffer.from(x, 'base64url'));
  const seed = Buffer.from(secret, 'base64url');
  if (!(await onDisk(path, () => createFile(path, encodePrivateKey(publicKey, seed, comment)))))
    throw usageError('KEY_EXISTS', `${escapeInvisible(path)} already exists: choose another name.`);
  await writeFileAtomically(`${path}.pub`, `${publicKey.text} ${comment}\n`);
  return keyOfSeed(publicKey, seed);
}

function keyOfSeed(publicKey: PublicKey, seed: Buffer): SigningKey {
  const x = publicKey.blob.subarray(-keyLength).toString('base64url');
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: seed.toString('base64url'), x };
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  return { publicKey, sign: async (data) => sign(null, data, key) };
}

function keyOfAgent(path: string, publicKey: PublicKey, agent: string | undefined): SigningKey {
  return {
    publicKey,
    async sign(data) {
      const signature = agent && (await signWithAgent(agent, publicKey, data).catch(() => undefined));
      if (signature) return signature;
      const file = shellWord(path.replace(/\.pub$/, ''));
      throw usageError(
        'KEY_LOCKED',
        `Only the ssh-agent can sign with ${escapeInvisible(path)}, and it did not: type "ssh-add ${file}", then try again.`,
      );
    },
  };
}

interface PrivateKey {
  readonly publicKey: PublicKey;
  /** Undefined when the file has a passphrase. */
  readonly seed: Buffer | undefined;
}

/** @throws a usage error `KEY_UNREADABLE` */
function privateKeyIn(shown: string, text: string): PrivateKey {
  try {
    return decodePrivateKey(text);
  } catch (error) {
    throw unreadable(shown, error);
  }
}

function publicKeyIn(shown: string, text: string): PublicKey {
  try {
    return parsePublicKey(text);
  } catch (error) {
    throw unreadable(shown, error);
  }
}

function unreadable(shown: string, error: unknown) {
  return usageError(
    'KEY_UNREADABLE',
    `${shown} is not an Ed25519 key of OpenSSH (${(error as Error).message}): make one with "cqbatch keys new FILE" or "ssh-keygen -t ed25519".`,
    error,
  );
}

function decodePrivateKey(text: string): PrivateKey {
  const lines = text.trim().split(/\r?\n/);
  if (lines.shift() !== frame.begin || lines.pop() !== frame.end)
    throw new RangeError(`it does not begin with "${frame.begin}"`);
  const bytes = Buffer.from(lines.join(''), 'base64');
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw new RangeError('its content is damaged');
  const reader = new SshReader(bytes.subarray(magic.length));
  const cipher = reader.text().toString();
  // The key derivation and its options, which only matter with a passphrase.
  reader.text();
  reader.text();
  if (reader.number() !== 1) throw new RangeError('it holds several keys');
  const publicKey = keyOfBlob(reader.text());
  const secret = new SshReader(reader.text());
  if (cipher !== 'none') return { publicKey, seed: undefined };
  const [check, again] = [secret.number(), secret.number()];
  const isOwn = keyOfBlob(Buffer.concat([sshText(secret.text()), sshText(secret.text())]));
  const seedAndKey = secret.text();
  if (check !== again || isOwn.text !== publicKey.text || seedAndKey.length !== 2 * keyLength)
    throw new RangeError('its content is damaged');
  return { publicKey, seed: seedAndKey.subarray(0, keyLength) };
}

function encodePrivateKey(publicKey: PublicKey, seed: Buffer, comment: string): string {
  const check = randomBytes(4);
  const { blob } = publicKey;
  const secret = Buffer.concat([
    check,
    check,
    blob,
    sshText(Buffer.concat([seed, blob.subarray(-keyLength)])),
    sshText(comment),
  ]);
  const missing = -secret.length % blockSize;
  const padding = Buffer.from(
    Array.from({ length: missing === 0 ? 0 : blockSize + missing }, (_, i) => i + 1),
  );
  const content = Buffer.concat([
    Buffer.from(magic),
    ...[sshText('none'), sshText('none'), sshText(''), sshNumber(1)],
    sshText(blob),
    sshText(Buffer.concat([secret, padding])),
  ]).toString('base64');
  const lines = content.match(new RegExp(`.{1,${lineLength}}`, 'g')) ?? [];
  return `${[frame.begin, ...lines, frame.end].join('\n')}\n`;
}

import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemError } from '../../base/errors/system-error.ts';
import { escapeInvisible } from '../../base/text/printable.ts';

/** Signs and checks with ssh-keygen(1), "-Y", as git does, so that any key, agent, passphrase and hardware key of OpenSSH works. */

/** OpenSSH refuses a signature that was made for another purpose. */
const namespace = 'cqbatch-approval';

/** The author of a valid signature. */
export interface Signer {
  /** The name in the file of allowed signers. */
  readonly name: string;
  /** Fingerprint. */
  readonly key: string;
}

/**
 * OpenSSH asks for the passphrase or the touch of a key at the terminal.
 *
 * @param key path of a private key, or of a public key whose private key an agent has
 * @returns the armored signature
 * @throws a RangeError with what ssh-keygen says, or a system error `SSH_KEYGEN_MISSING`
 */
export async function signText(text: string, key: string): Promise<string> {
  const { code, out, problem } = await sshKeygen(['-Y', 'sign', '-n', namespace, '-f', key], text);
  if (code === 0 && out.includes('BEGIN SSH SIGNATURE')) return out;
  throw new RangeError(problem || `it ended with ${code}`);
}

/**
 * @param allowed path of a file in the form `allowed_signers`
 * @param at when the signature must be valid
 * @returns undefined when the signature is not good, or not by an allowed signer
 * @throws a system error `SSH_KEYGEN_MISSING`
 */
export async function signerOf(
  text: string,
  signature: string,
  allowed: string,
  at: Date,
): Promise<Signer | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'cqbatch-signature-'));
  try {
    const file = join(folder, 'signature');
    await writeFile(file, signature, { mode: 0o600 });
    const how = ['-f', allowed, '-s', file, '-O', `verify-time=${timestamp(at)}`];
    const found = await sshKeygen(['-Y', 'find-principals', ...how], text);
    const [name = ''] = found.code === 0 ? found.out.trim().split(/[\n,]/) : [];
    if (name === '') return undefined;
    const { code, out } = await sshKeygen(['-Y', 'verify', '-n', namespace, '-I', name, ...how], text);
    const key = /\bSHA256:[\w+/]{43}\b/.exec(out)?.[0];
    return code === 0 && key !== undefined ? { name, key } : undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** `20261126173005Z` */
function timestamp(at: Date): string {
  return at.toISOString().replace(/\.\d+|[-:T]/g, '');
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  /** The last line of the error output. */
  readonly problem: string;
}

function sshKeygen(args: readonly string[], input: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn('ssh-keygen', args);
    let [out, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    child.stdin.on('error', () => {}).end(input);
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? missing(error) : error),
    );
    child.once('close', (code) =>
      resolve({ code, out, problem: escapeInvisible(errors.trim().split('\n').at(-1) ?? '') }),
    );
  });
}

function missing(cause: Error): SystemError {
  return new SystemError(
    'SSH_KEYGEN_MISSING',
    'approvals are signed and checked by ssh-keygen, which is not installed',
    'install OpenSSH (Debian and Ubuntu: apt-get install openssh-client; Alpine: apk add openssh-client)',
    cause,
  );
}

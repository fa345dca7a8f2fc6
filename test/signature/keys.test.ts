import { execFile } from 'node:child_process';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createKey, readSigningKey } from '../../src/signature/key-file.ts';
import { machineKey } from '../../src/signature/machine-key.ts';
import { parsePublicKey } from '../../src/signature/public-key.ts';
import { describeWithProgram } from '../helpers/describe-with-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const run = promisify(execFile);
const data = Buffer.from('DSSEv1 1 x 1 y');

/** A key as `ssh-keygen` makes it. */
async function sshKey(passphrase: string, type = 'ed25519'): Promise<string> {
  const path = join(await temporaryFolder(), 'id');
  await run('ssh-keygen', ['-q', '-t', type, '-N', passphrase, '-C', 'ana@laptop', '-f', path]);
  return path;
}

describeWithProgram(['ssh-keygen'], 'keys of OpenSSH', () => {
  test('a key of ssh-keygen signs, and has the fingerprint that ssh-keygen prints', async () => {
    const path = await sshKey('');
    const key = await readSigningKey(path, undefined);
    const printed = await run('ssh-keygen', ['-l', '-f', path]);
    expect(printed.stdout.split(' ')[1]).toBe(key.publicKey.fingerprint);
    const named = parsePublicKey(await readFile(`${path}.pub`, 'utf8'));
    expect(named.text).toBe(key.publicKey.text);
    expect(named.verifies(data, await key.sign(data))).toBe(true);
    expect(named.verifies(Buffer.from('other'), await key.sign(data))).toBe(false);
  });

  test('ssh-keygen reads a key made here, and can give it a passphrase', async () => {
    const path = join(await temporaryFolder(), 'id');
    const key = await createKey(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const { stdout } = await run('ssh-keygen', ['-y', '-f', path]);
    expect(stdout.trim()).toBe((await readFile(`${path}.pub`, 'utf8')).trim());
    expect(stdout).toContain(key.publicKey.text);
    await run('ssh-keygen', ['-q', '-p', '-N', 'long enough', '-f', path]);
    const locked = await readSigningKey(path, undefined);
    expect(locked.publicKey.text).toBe(key.publicKey.text);
    await expect(locked.sign(data)).rejects.toMatchObject({ code: 'KEY_LOCKED' });
  });

  test('the ssh-agent signs with a key that has a passphrase, or of which only the public part is here', async () => {
    const path = await sshKey('');
    const agent = join(await temporaryFolder(), 'agent');
    const { stdout } = await run('ssh-agent', ['-s', '-a', agent]);
    const pid = Number(/SSH_AGENT_PID=(\d+)/.exec(stdout)?.[1]);
    onTestFinished(() => void process.kill(pid));
    await run('ssh-add', ['-q', path], { env: { ...process.env, SSH_AUTH_SOCK: agent } });
    await run('ssh-keygen', ['-q', '-p', '-N', 'long enough', '-f', path]);
    for (const file of [path, `${path}.pub`]) {
      const key = await readSigningKey(file, agent);
      expect(key.publicKey.verifies(data, await key.sign(data))).toBe(true);
    }
    const other = await readSigningKey(await sshKey('long enough'), agent);
    await expect(other.sign(data)).rejects.toMatchObject({
      code: 'KEY_LOCKED',
      message: expect.stringContaining('ssh-add'),
    });
  });

  test.each([
    ['an ECDSA key', 'KEY_UNREADABLE', async () => sshKey('', 'ecdsa')],
    ['a key that others may read', 'KEY_UNPROTECTED', async () => opened(await sshKey(''))],
    ['a file that does not exist', 'KEY_NOT_FOUND', async () => join(await temporaryFolder(), 'none')],
    ['a key that was cut', 'KEY_UNREADABLE', async () => edited(await sshKey(''), (text) => text.slice(40))],
    [
      'a damaged key',
      'KEY_UNREADABLE',
      async () => edited(await sshKey(''), (text) => text.replace(/.{70}\n/, '')),
    ],
    [
      'a public key of another type',
      'KEY_UNREADABLE',
      async () => edited(await sshKey(''), () => 'ssh-ed25519 AAAA'),
    ],
  ])('%s is refused', async (_, code, make) => {
    await expect(readSigningKey(await make(), undefined)).rejects.toMatchObject({ kind: 'usage', code });
  });
});

describeWithProgram(['openssl'], 'OpenSSL', () => {
  test('verifies signatures', async () => {
    const folder = await temporaryFolder();
    const key = await createKey(join(folder, 'id'));
    await writeFile(join(folder, 'data'), data);
    await writeFile(join(folder, 'sig'), await key.sign(data));
    // As docs/approvals.md says.
    const der = String.raw`{ printf '\60\52\60\5\6\3\53\145\160\3\41\0'; cut -d' ' -f2 id.pub | base64 -d | tail -c 32; } > key.der`;
    expect(await readFile('docs/approvals.md', 'utf8')).toContain(der.replace('id.pub', 'ana.pub'));
    await run('sh', ['-c', der], { cwd: folder });
    const verify = 'pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in data -sigfile sig'.split(
      ' ',
    );
    await expect(run('openssl', verify, { cwd: folder })).resolves.toMatchObject({
      stdout: expect.stringContaining('Verified Successfully'),
    });
    await writeFile(join(folder, 'data'), 'DSSEv1 1 x 1 z');
    await expect(run('openssl', verify, { cwd: folder })).rejects.toThrow();
  });
});

describe('new keys', () => {
  test('a key is never replaced', async () => {
    const path = join(await temporaryFolder(), 'id');
    const { publicKey } = await createKey(path);
    await expect(createKey(path)).rejects.toMatchObject({ code: 'KEY_EXISTS' });
    expect((await readSigningKey(path, undefined)).publicKey.text).toBe(publicKey.text);
  });

  test('the key of a state folder is made once, however many processes need it first', async () => {
    const folder = join(await temporaryFolder(), 'state');
    const keys = await Promise.all(Array.from({ length: 5 }, () => machineKey(folder)));
    expect(new Set(keys.map(({ publicKey }) => publicKey.text)).size).toBe(1);
  });
});

test.each([
  ['ssh-rsa AAAAB3NzaC1yc2E', /ssh-rsa/],
  ['ssh-ed25519', /OpenSSH public key/],
  ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA', /OpenSSH public key/],
  ['Ana', /OpenSSH public key/],
])('%s is no public key', (text, message) => {
  expect(() => parsePublicKey(text)).toThrow(message);
});

async function opened(path: string): Promise<string> {
  await chmod(path, 0o644);
  return path;
}

async function edited(path: string, edit: (text: string) => string): Promise<string> {
  await writeFile(path, edit(await readFile(path, 'utf8')));
  return path;
}

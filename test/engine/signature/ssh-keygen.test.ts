import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { signerOf, signText } from '../../../src/engine/signature/ssh-keygen.ts';
import { describeWithProgram } from '../../helpers/describe-with-program.ts';
import { sshKey } from '../../helpers/ssh-key.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const run = promisify(execFile);
const text = 'plan sha256:00\nfor one run\n';
const now = new Date('2026-11-26T12:00:00Z');

describeWithProgram(['ssh-keygen'], 'a signature of OpenSSH', () => {
  let key: string;
  let publicKey: string;
  let allowed: string;

  /** Writes the file of allowed signers. */
  const allow = (options = '', names = 'ana') => writeFile(allowed, `${names} ${options} ${publicKey}\n`);

  beforeEach(async () => {
    key = await sshKey();
    publicKey = (await readFile(`${key}.pub`, 'utf8')).split(' ', 2).join(' ');
    allowed = join(await temporaryFolder(), 'allowed_signers');
    await allow();
  });

  test('is that of an allowed signer, with the fingerprint that ssh-keygen prints', async () => {
    const signature = await signText(text, key);
    const { stdout } = await run('ssh-keygen', ['-l', '-f', key]);
    expect(await signerOf(text, signature, allowed, now)).toEqual({ name: 'ana', key: stdout.split(' ')[1] });
  });

  test.each([
    ['too early', 'valid-after="20261127"'],
    ['too late', 'valid-before="20261126"'],
    ['for another purpose', 'namespaces="git"'],
  ])('%s counts for nothing', async (_what, options) => {
    await allow(options);
    expect(await signerOf(text, await signText(text, key), allowed, now)).toBeUndefined();
  });

  test.each([
    ['of another text', `${text} `, (signature: string) => signature],
    ['that was changed', text, (signature: string) => signature.replace('U1NIU0lH', 'U1NIU0lI')],
    ['that is only text', text, () => 'signed, Ana'],
  ])('%s counts for nothing', async (_what, said, change) => {
    expect(await signerOf(said, change(await signText(text, key)), allowed, now)).toBeUndefined();
  });

  test('of a key that is not allowed counts for nothing', async () => {
    const signature = await signText(text, await sshKey());
    expect(await signerOf(text, signature, allowed, now)).toBeUndefined();
  });

  test('that was made for another purpose counts for nothing', async () => {
    const file = join(await temporaryFolder(), 'text');
    await writeFile(file, text);
    await run('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'git', '-f', key, file]);
    expect(await signerOf(text, await readFile(`${file}.sig`, 'utf8'), allowed, now)).toBeUndefined();
  });

  test('by a key that is missing is an error in the words of ssh-keygen', async () => {
    await expect(signText(text, `${key}.gone`)).rejects.toThrow(/No such file/);
  });
});

test('without ssh-keygen, the error says what to install', async () => {
  const { PATH } = process.env;
  process.env['PATH'] = '/nonexistent';
  try {
    await expect(signText(text, 'key')).rejects.toMatchObject({
      code: 'SSH_KEYGEN_MISSING',
      message: expect.stringContaining('apt-get install openssh-client'),
    });
  } finally {
    process.env['PATH'] = PATH;
  }
});

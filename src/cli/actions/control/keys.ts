import { createKey, machineKey, machineKeyPath, type PublicKey } from '../../../index.ts';
import { escapeInvisible } from '../../../text/printable.ts';
import { type Flags, trustedStateDir } from '../../config/load.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { openTerminal, type Terminal } from '../../terminal.ts';

/** `cqbatch keys new`: makes a key to approve plans with. */
export async function newKey(file: string, flags: Flags): Promise<ExitCode> {
  const { publicKey } = await createKey(file);
  const terminal = openTerminal(flags);
  const shown = escapeInvisible(file);
  printKey(terminal, file, publicKey);
  terminal.say(
    `Wrote ${shown} and ${shown}.pub. The key has no passphrase; "ssh-keygen -p -f FILE" sets one.\n` +
      'Give the public key to those whose runs you approve, for "approvers" in their config.json.',
  );
  return exitCodes.success;
}

/** `cqbatch keys show`: the key that signs what the runs of this state folder did. */
export async function showKey(flags: Flags): Promise<ExitCode> {
  const stateDir = await trustedStateDir(flags);
  const { publicKey } = await machineKey(stateDir);
  printKey(openTerminal(flags), machineKeyPath(stateDir), publicKey);
  return exitCodes.success;
}

function printKey(terminal: Terminal, file: string, { text, fingerprint }: PublicKey): void {
  terminal.result({ file, public_key: text, fingerprint }, `${text}\n${fingerprint}`);
}

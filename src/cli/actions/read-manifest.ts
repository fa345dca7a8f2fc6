import type { InputOptions } from '../../manifest/input.ts';
import { escapeInvisible } from '../../printable.ts';
import { defaults, type Settings } from '../config/settings.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { interruptible } from '../interrupt.ts';
import type { Terminal } from '../terminal.ts';

/**
 * Does what reads a manifest and sends nothing. The user can stop it, and is told when it waits for a pipe or for
 * standard input.
 *
 * @returns what `work` does, or the exit code when the user has stopped it.
 */
export async function readingManifest<Result>(
  terminal: Terminal,
  { maxManifestSize = defaults.maxManifestSize }: Settings,
  work: (input: InputOptions) => Promise<Result>,
): Promise<Result | ExitCode> {
  const interrupt = interruptible(() => {});
  try {
    return await work({
      maxBytes: maxManifestSize,
      signal: interrupt.signal,
      onWaiting: (name) =>
        terminal.warn(
          name === '<stdin>'
            ? 'Waiting for the manifest on standard input. Ctrl-C gives up.'
            : `Waiting for somebody to write the manifest into ${escapeInvisible(name)}, which is a pipe. Ctrl-C gives up.`,
        ),
    });
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    terminal.result({ state: 'interrupted' }, 'Nothing was sent.');
    return exitCodes.interrupted;
  } finally {
    interrupt.release();
  }
}

import type { Datastore } from '../datastore/datastore.ts';
import { datastoreAddress, openDatastore } from '../datastore/open.ts';
import { usageError } from '../errors.ts';
import { defaults, type Settings } from '../settings/settings.ts';
import { environment, type Flags, readSecret, stateDirOf } from './config/load.ts';
import type { Terminal } from './terminal.ts';

/** The datastore that the settings name. */
export interface DatastoreChoice {
  /** The shared datastore without its password; undefined for the embedded one. */
  readonly queue: string | undefined;
  /**
   * Opens it, and says what is not as it should be.
   *
   * @throws a fatal error that says why it can't be used and what to do about it.
   */
  open(purpose: string): Promise<Datastore>;
}

/** What a command was told, and where its words go. */
export interface CommandInput {
  readonly terminal: Terminal;
  readonly flags: Flags;
  readonly settings: Settings;
}

/** @throws a usage error when a flag holds a password, or the address can't be understood. */
export async function chooseDatastore({ terminal, flags, settings }: CommandInput): Promise<DatastoreChoice> {
  const { queue: url, queuePrefix: prefix = defaults.queuePrefix } = settings;
  refusePasswordInFlag(flags.queue);
  const queue = await datastoreAddress(url);
  const password = url === undefined ? undefined : await queuePassword(settings);
  const sentinelPassword = environment['CQBATCH_SENTINEL_PASSWORD'] || undefined;
  const redis = url === undefined ? undefined : { url, prefix, password, sentinelPassword };
  return {
    queue,
    async open(purpose) {
      const { datastore, warnings } = await openDatastore({ redis, stateDir: stateDirOf(flags), purpose });
      for (const warning of warnings) terminal.warn(`warning: ${warning}`);
      return datastore;
    },
  };
}

/** Other users of the machine can read command lines. */
function refusePasswordInFlag(url: string | undefined): void {
  if (url === undefined || !/^[^/]*:\/\/[^/@]*:[^/@]+@/.test(url)) return;
  throw usageError(
    'PASSWORD_IN_FLAG',
    'Everybody on this machine can read a password in --queue: put the address into CQBATCH_QUEUE, or the password into ' +
      'CQBATCH_QUEUE_PASSWORD or a file (--queue-password-file).',
  );
}

function queuePassword({ queuePasswordFile }: Settings): Promise<string | undefined> {
  return readSecret({
    file: queuePasswordFile,
    variable: 'CQBATCH_QUEUE_PASSWORD',
    what: 'the password file',
    code: 'PASSWORD_UNREADABLE',
  });
}

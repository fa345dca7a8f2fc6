import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { thisActor } from '../../actor.ts';
import { openWebhook, signatureHeaders, type Webhook } from '../../api/webhook.ts';
import { CqbatchError, usageError } from '../../errors.ts';
import { withReleases } from '../../releases.ts';
import { systemError } from '../../system-error.ts';
import { environment } from '../config/load.ts';
import type { Context } from '../context.ts';
import { type ExitCode, exitCodeOfError, exitCodes } from '../exit-codes.ts';
import { Interrupted } from '../interrupt.ts';
import { type EndedRun, newsOf } from '../render/news.ts';

/**
 * Does what a command is for, and tells the URLs of the user how it ended. Whether they take it changes nothing of the
 * exit code.
 *
 * @param work is to hand the run that it took to its end to `context.onEnded`
 */
export function notifying(
  context: Context,
  work: (context: Context) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { settings, terminal } = context;
  if (settings.notifyUrl === undefined && settings.pingUrl === undefined) return work(context);
  return withReleases(async (atEnd) => {
    const open = (what: string, url: string | undefined): Webhook | undefined => {
      const hook = url === undefined ? undefined : openWebhook(what, url, { variables: environment });
      atEnd(() => hook?.close());
      return hook;
    };
    const notify = open('--notify-url', settings.notifyUrl);
    const ping = open('--ping-url', settings.pingUrl);
    const secret = await secretOf(context);
    const telling = async (what: string, hook: Webhook | undefined, told: Promise<void> | undefined) =>
      told?.catch(({ message }: Error) =>
        terminal.warn(`warning: ${what} on ${hook?.host} was not told: ${message}`),
      );

    const starting = telling('--ping-url', ping, ping?.post('', { below: '/start' }));
    let run: EndedRun | undefined;
    let failure: unknown;
    let code: ExitCode;
    try {
      code = await work({
        ...context,
        onEnded(ended) {
          run = ended;
        },
      });
    } catch (error) {
      failure = error;
      code = codeOf(error);
    }
    await starting;
    const news = newsOf({ run, exitCode: code, error: failure as Error | undefined, by: thisActor() });
    const isWanted = code !== exitCodes.success || settings.notifyOn === 'always';
    const body = JSON.stringify(news);
    const headers =
      secret === undefined ? [] : signatureHeaders(secret, `msg_${randomUUID()}`, new Date(), body);
    await Promise.all([
      telling('--ping-url', ping, ping?.post(news.text, { below: `/${code}` })),
      telling('--notify-url', notify, isWanted ? notify?.post(body, { headers }) : undefined),
    ]);
    if (failure !== undefined) throw failure;
    return code;
  });
}

function codeOf(error: unknown): ExitCode {
  if (error instanceof Interrupted) return exitCodes.interrupted;
  const known = error instanceof CqbatchError ? error : systemError(error);
  return exitCodeOfError[known?.kind ?? 'fatal'];
}

/** What the news is signed with: never from a flag. */
async function secretOf({ settings: { notifySecretFile } }: Context): Promise<string | undefined> {
  if (notifySecretFile === undefined) return environment['CQBATCH_NOTIFY_SECRET'] || undefined;
  try {
    return (await readFile(notifySecretFile, 'utf8')).trim();
  } catch (error) {
    throw usageError(
      'NOTIFY_SECRET_UNREADABLE',
      `Can't read the secret in ${notifySecretFile}: ${(error as Error).message}.`,
      error,
    );
  }
}

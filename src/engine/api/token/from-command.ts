import { type CqbatchError, errorText, usageError } from '../../../base/errors/errors.ts';
import { harmlessCallback, warnOf } from '../../../base/errors/harmless.ts';
import { commandWords } from '../../../base/text/command-words.ts';
import { counted } from '../../../base/text/format.ts';
import { isJsonObject } from '../../../base/text/json.ts';
import { readMoment, unixTimeMs } from '../../../base/text/moment.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import { type ReadToken, renewedToken } from './renewed-token.ts';
import { type CommandEnd, type RunProgram, runProgram } from './run-program.ts';
import { checkToken, type TokenSource } from './token.ts';

const limitMs = 30_000;
/** The least time between two runs of the command while the token is valid. */
const pauseMs = 1_000;

const setting = '--token-command (CQBATCH_TOKEN_COMMAND)';

/**
 * A token that a command prints, alone or as JSON with its end (`access_token`, `expires_in`). The command runs without a shell when a
 * token is needed, when the API refuses it, and before its end: once at a time, for all calls. While the token is valid, a failure is only
 * a warning. Both functions reject with a CqbatchError (usage) when there is no token.
 *
 * @param command a program and its arguments, as words or as a POSIX shell would split them
 * @param options.onWarning why a valid token could not be renewed. Default: a warning of the process
 * @throws CqbatchError (usage) for a text that is not a command
 */
export function tokenFromCommand(
  command: string | readonly string[],
  options: { readonly onWarning?: ((reason: string) => void) | undefined } = {},
): TokenSource {
  return tokenFromRuns(command, runProgram, options.onWarning);
}

export function tokenFromRuns(
  command: string | readonly string[],
  run: RunProgram,
  onWarning: (reason: string) => void = warnOf('The access token is not renewed yet'),
): TokenSource {
  const words = wordsOf(command);
  const warn = harmlessCallback(onWarning, warnOf('The listener to warnings fails'));
  let trouble = '';

  async function read(): Promise<ReadToken> {
    const end = await run(words, limitMs);
    const found = readPrinted(end.out);
    if (found === undefined || end.problem !== undefined) throw failureOf(words, end);
    trouble = '';
    return found;
  }

  return renewedToken(read, {
    pauseMs,
    onTrouble(error) {
      if (trouble !== errorText(error)) warn(errorText(error));
      trouble = errorText(error);
    },
  });
}

function wordsOf(command: string | readonly string[]): readonly string[] {
  try {
    return commandWords(command);
  } catch (error) {
    throw usageError('INVALID_SETTING', `The token command can't be used: ${(error as Error).message}.`);
  }
}

const tokenKeys = ['access_token', 'accessToken', 'token'];
const endKeys = ['expiry', 'expires_at', 'expiration', 'expires_on'];

/** Reads the token and its lifetime from the output of a command; undefined without a token. An unreadable end of the token is ignored. */
function readPrinted(out: string): ReadToken | undefined {
  const printed = parsedOutput(out.trim());
  const values = isJsonObject(printed) ? printed : {};
  const text = typeof printed === 'string' ? printed : tokenKeys.map((key) => values[key]).find(isText);
  if (text === undefined) return undefined;
  try {
    return { token: checkToken(text), lifeMs: lifeMs(values) };
  } catch {
    return undefined;
  }
}

function parsedOutput(text: string): unknown {
  if (!/^[{"]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function lifeMs(values: Readonly<Record<string, unknown>>): number | undefined {
  const seconds = Number(values['expires_in'] ?? Number.NaN);
  if (seconds > 0) return seconds * 1_000;
  const end = endKeys.map((key) => values[key]).find((value) => value !== undefined);
  const endMs = momentOf(String(end));
  return endMs === undefined ? undefined : endMs - Date.now();
}

/** A time in the output of a command, as milliseconds since 1970. */
function momentOf(text: string): number | undefined {
  return /^\d{9,}(\.\d+)?$/.test(text) ? unixTimeMs(Number(text)) : readMoment(text);
}

/** The error for a command without a token. It quotes neither arguments nor output, of which any word may be a secret. */
function failureOf([program = '']: readonly string[], { out, errors, problem }: CommandEnd): CqbatchError {
  const name = `The token command ${escapeInvisible(program)}`;
  const length = errors.trim().length;
  const said = length === 0 ? '' : `. It wrote ${counted(length, 'character')} to standard error`;
  const look = `. Run the command in a terminal${length === 0 ? '' : ' to see them'}, then correct it or ${setting}.`;
  if (problem === 'is not found') {
    const message = `${name} is not found. Install it, or write its whole path in ${setting}; ~ and $NAME have no meaning there.`;
    return usageError('TOKEN_UNREADABLE', message);
  }
  if (problem !== undefined) return usageError('TOKEN_UNREADABLE', `${name} ${problem}${said}${look}`);
  if (out.trim() === '')
    return usageError('TOKEN_EMPTY', `${name} printed nothing (exit code 0)${said}${look}`);
  const what = 'printed something that is no token (exit code 0): it must print only the token, on one line';
  return usageError('TOKEN_MALFORMED', `${name} ${what}, or JSON with "access_token"${said}${look}`);
}

import { steadyNow } from '../../../base/async/clock.ts';
import { readSmallFile } from '../../../base/disk/open-file.ts';
import { CqbatchError, usageError } from '../../../base/errors/errors.ts';
import { checkToken, type TokenSource } from './token.ts';

export interface ReadToken {
  readonly token: string;
  /** How long the token is valid. If absent or not positive, the token counts until the API refuses it. */
  readonly lifeMs?: number | undefined;
}

interface KnownToken {
  readonly token: string;
  /** When to read the token again although it is still valid, by the steady clock. */
  renewAt: number;
  readonly endsAt: number;
}

/** A token is renewed this long before its end, or a tenth of its life if that is less. */
const longestEarlyMs = 30_000;

interface Renewal {
  /** The least time between two reads while the token is valid, or while a refused token has not changed. */
  readonly pauseMs: number;
  readonly onTrouble: (error: unknown) => void;
}

/**
 * Reads a token at the first use, before its end, and once for each token that the API refuses. One read at a time serves all calls, which
 * do not wait while the old token is valid.
 */
export function renewedToken(
  read: () => Promise<ReadToken>,
  { pauseMs, onTrouble }: Renewal = { pauseMs: 0, onTrouble() {} },
): TokenSource {
  let known: KnownToken | undefined;
  let reading: Promise<string> | undefined;
  /** The token that the API refused last, and what was read because of that. */
  let refusal: { readonly token: string; readonly next: Promise<string> } | undefined;

  async function readOnce(): Promise<string> {
    const { token, lifeMs = 0 } = await read();
    const now = steadyNow();
    // If the token is still the refused one, later calls read the token again: you may have renewed it meanwhile.
    const leftMs = token === refusal?.token ? pauseMs : lifeMs > 0 ? lifeMs : Number.POSITIVE_INFINITY;
    const earlyMs = Math.min(longestEarlyMs, leftMs / 10);
    known = { token, renewAt: now + Math.max(leftMs - earlyMs, pauseMs), endsAt: now + leftMs };
    return token;
  }

  function renew(): Promise<string> {
    reading ??= readOnce().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  function renewEarly(valid: KnownToken): void {
    if (reading !== undefined) return;
    renew().catch((error: unknown) => {
      const now = steadyNow();
      valid.renewAt = now + pauseMs;
      if (known === valid && now < valid.endsAt) onTrouble(error);
    });
  }

  async function current(): Promise<string> {
    const now = steadyNow();
    if (known === undefined || now >= known.endsAt) return renew();
    if (now >= known.renewAt) renewEarly(known);
    return known.token;
  }

  async function replace(refused: string): Promise<string> {
    // A read that began before the refusal may still have found the refused token.
    const earlier = await reading?.catch(() => undefined);
    return earlier === undefined || earlier === refused ? renew() : earlier;
  }

  function refresh(refused?: string): Promise<string> {
    if (refused === undefined) return renew();
    if (known !== undefined && known.token !== refused) return current();
    if (refusal?.token !== refused) {
      known = undefined;
      refusal = { token: refused, next: replace(refused) };
    }
    return refusal.next;
  }

  return { current, refresh };
}

/**
 * A token in a file, read at the first use and again, once for each token that the API refuses, so that another program may renew it. White
 * space around it is ignored. Both functions reject with a CqbatchError (usage) when the file cannot be read or contains no token.
 */
export function tokenFromFile(path: string): TokenSource {
  return renewedToken(async () => ({ token: await readTokenFile(path) }));
}

async function readTokenFile(path: string): Promise<string> {
  try {
    return checkToken(await readSmallFile(path));
  } catch (error) {
    if (error instanceof CqbatchError) throw error;
    const { code, message: why } = error as NodeJS.ErrnoException;
    const message = `The token file ${path} cannot be read (${code ?? why}): check --token-file or CQBATCH_TOKEN_FILE`;
    throw usageError('TOKEN_UNREADABLE', message, error);
  }
}

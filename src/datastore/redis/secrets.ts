/** Passwords reach errors through the commands that ioredis hangs on them; here they are taken off. */

/** The error for logs and as a `cause`: the same message and code, without passwords and without what was sent. */
export function withoutSecrets(error: unknown, secrets: readonly string[]): Error {
  const { message, code } = error as Partial<NodeJS.ErrnoException>;
  const clean = new Error(removeSecrets(String(message ?? error), secrets));
  return code === undefined ? clean : Object.assign(clean, { code });
}

/** Takes the command off an error that others will get to see. */
export function dropCommand(error: unknown): void {
  if (typeof error === 'object' && error !== null && 'command' in error) delete error.command;
}

export function removeSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '…')), text);
}

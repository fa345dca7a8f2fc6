import type { Command, Redis } from 'ioredis';

/**
 * Mends two faults of ioredis, which sees no errors in the reply to EXEC:
 *
 * - It sends a script by digest once a connection has sent its text. Redis may have forgotten the text since (SCRIPT FLUSH, a failover), or
 *   never kept it (a discarded transaction), and fail with NOSCRIPT. So transactions carry the text.
 * - It does not pass these errors to `reconnectOnError`: `onError` gets them.
 */
export function mendTransactions(client: Redis, onError: (error: Error) => void): void {
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    if (command.inTransaction) sendWithText(command);
    if (command.name === 'exec')
      void command.promise.then(
        (replies) => errorsIn(replies).forEach(onError),
        () => {},
      );
    return send(command, stream);
  };
}

/** ioredis sends the text to a socket that it has not seen, such as this empty object. */
function sendWithText(command: Command): void {
  const { toWritable } = command;
  command.toWritable = () => toWritable.call(command, {});
}

function errorsIn(replies: unknown): readonly Error[] {
  return Array.isArray(replies) ? replies.filter((reply) => reply instanceof Error) : [];
}

// @ts-check

/**
 * Runs the body of a program that `measureProgram` has started: its options come as JSON in the first argument, its
 * result goes back as a message. A program whose parent is gone ends.
 *
 * @template Options, Answer
 * @param {(options: Options) => Promise<Answer>} body
 */
export async function program(body) {
  const abandoned = () => process.exit(1);
  process.on('disconnect', abandoned);
  const answer = await body(JSON.parse(process.argv[2] ?? '{}'));
  await new Promise((resolve) => process.send?.(answer, resolve));
  process.off('disconnect', abandoned);
  process.disconnect?.();
}

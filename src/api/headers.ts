/** The header fields of an answer, by lower-case name; an array when the field came more than once. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Every value of a header field, in the order in which they came. */
export function headerValues(headers: AnswerHeaders, name: string): readonly string[] {
  const value = headers[name];
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

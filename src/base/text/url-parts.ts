export interface UrlParts {
  /** In lower case. */
  readonly scheme: string;
  /** User, password and hosts. */
  readonly authority: string;
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
  /** With its `#`. */
  readonly fragment: string;
  /** A password with `/`, `?` or `#` ends the authority too early: its first part would be taken for the host. */
  readonly isPasswordCut: boolean;
}

export const howToEncode = 'must percent-encode / ? # @ % in names and passwords (%2F %3F %23 %40 %25)';

/** Undefined without a scheme. */
export function urlParts(url: string): UrlParts | undefined {
  const [whole, scheme = '', authority = '', path = '', query = '', fragment = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?(#.*)?$/is.exec(url.trim()) ?? [];
  if (whole === undefined) return undefined;
  const isPasswordCut = `${path}${query}${fragment}`.includes('@');
  return { scheme: scheme.toLowerCase(), authority, path, query, fragment, isPasswordCut };
}

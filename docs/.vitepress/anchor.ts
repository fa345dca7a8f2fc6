/** The anchor of a heading, as GitHub makes it. VitePress would make others, as `_503s` of `503s`, and links to them would lead nowhere. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

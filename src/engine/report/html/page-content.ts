/** The text before the content of a page, which is JSON without `<`. */
export const contentStart = '<script type="application/json" id="content">';

/** Reads the content of a page without parsing the page. Undefined for a page without content. */
export function contentIn<Content>(html: string): Content | undefined {
  const start = html.indexOf(contentStart);
  if (start < 0) return undefined;
  const from = start + contentStart.length;
  return JSON.parse(html.slice(from, html.indexOf('</script>', from))) as Content;
}

/** Prints a text at the foot of each page, beside the number of the page. Browsers that know no such rule leave it out. */
export function printFooter(text: string): void {
  const content = JSON.stringify(text);
  const rule = `@page { @bottom-left { content: ${content}; font: 10px system-ui, sans-serif } }`;
  document.styleSheets[0]?.insertRule(rule);
}

/** What makes a reader of a page read twice. */
export interface PageCount {
  readonly page: string;
  readonly words: number;
  /** By the word that is counted; `long` counts sentences, `chains` sentences with several semicolons or colons. */
  readonly counts: Readonly<Record<string, number>>;
}

export function countPage(page: string, text: string): PageCount;

export function pagesReport(
  pages: readonly PageCount[],
  readme: string,
): { readonly text: string; readonly isAboveLimit: boolean };

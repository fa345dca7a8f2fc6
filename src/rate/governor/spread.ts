/** What a longer window allows is not spread over it, milliseconds: nobody wants to wait for hours for a few calls. */
export const longestSpreadMs = 600_000;

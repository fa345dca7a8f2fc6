/** An API that asks to wait for longer, or accepts nothing for longer, has used up an allowance for a longer window, milliseconds. */
export const longWaitMs = 3_000;

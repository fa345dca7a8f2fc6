/** A button that is down for longer is not waited for: that it went up may be told to nobody. */
const longestMs = 1_000;

/** Knows whether a button of the mouse is down: what is replaced under it can't be clicked. */
export class Pointer {
  #isDown = false;
  #onReleased: (() => void) | undefined;

  constructor() {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const releaseAfter = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#release(), ms);
    };
    addEventListener('pointerdown', () => {
      this.#isDown = true;
      releaseAfter(longestMs);
    });
    // The click comes at once after it.
    for (const event of ['pointerup', 'pointercancel']) addEventListener(event, () => releaseAfter(0));
  }

  /** Draws as soon as that does no harm; of what was to be drawn until then only the last. */
  whenReleased(draw: () => void): void {
    if (this.#isDown) this.#onReleased = draw;
    else draw();
  }

  #release(): void {
    this.#isDown = false;
    this.#onReleased?.();
    this.#onReleased = undefined;
  }
}

/** A button that is down for longer is not waited for: the page may never hear that it went up. */
const longestMs = 1_000;

/** Knows whether a button of the mouse is down: what is replaced under it can't be clicked. */
export class Pointer {
  #isDown = false;
  #draws: (() => void)[] = [];

  constructor(target: EventTarget) {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const releaseAfter = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#release(), ms);
    };
    target.addEventListener('pointerdown', () => {
      this.#isDown = true;
      releaseAfter(longestMs);
    });
    // The click comes at once after it.
    for (const event of ['pointerup', 'pointercancel']) target.addEventListener(event, () => releaseAfter(0));
  }

  /** Draws as soon as that does no harm. */
  whenReleased(draw: () => void): void {
    if (this.#isDown) this.#draws.push(draw);
    else draw();
  }

  #release(): void {
    this.#isDown = false;
    for (const draw of this.#draws.splice(0)) draw();
  }
}

/** After this time, a mouse button counts as released: the page may miss the event. */
const longestMs = 1_000;

/** Delays drawing while a mouse button is down: an element that is replaced in this time would miss the click. */
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
    // The click event follows the release of the button at once.
    for (const event of ['pointerup', 'pointercancel']) target.addEventListener(event, () => releaseAfter(0));
  }

  whenReleased(draw: () => void): void {
    if (this.#isDown) this.#draws.push(draw);
    else draw();
  }

  #release(): void {
    this.#isDown = false;
    for (const draw of this.#draws.splice(0)) draw();
  }
}

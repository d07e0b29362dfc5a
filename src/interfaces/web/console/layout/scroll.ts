import { leftAt } from '../shared/router.js';

/** The time in which the rows of a list must be there again. */
const WAIT_MS = 5_000;

/**
 * Scrolls to the top of the page. After a step back in the history, scrolls to where the page was left, as soon as it is
 * long enough and unless the user scrolls first. Returns a function that stops this.
 */
export function scrollToPlace(): () => void {
  const top = leftAt() ?? 0;
  scrollTo(0, top);
  if (top === 0 || isAt(top)) return () => {};
  const controller = new AbortController();
  const stop = () => {
    controller.abort();
    observer.disconnect();
    clearTimeout(timer);
  };
  const observer = new ResizeObserver(() => {
    scrollTo(0, top);
    if (isAt(top)) stop();
  });
  const timer = setTimeout(stop, WAIT_MS);
  observer.observe(document.body);
  for (const type of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
    addEventListener(type, stop, { signal: controller.signal, passive: true });
  return stop;
}

/** Returns whether the page is scrolled there. Browsers round to fractions of a pixel. */
const isAt = (top: number): boolean => Math.abs(scrollY - top) < 2;

import { leftAt } from '../shared/router.js';

/** The time in which the rows of a list must be there again. */
const WAIT_MS = 5_000;

/**
 * Scrolls to the top of the page. After a step back in the history, scrolls to where the page was left and focuses the
 * link that was followed, as soon as they are there and unless the user acts first. Returns a function that stops this.
 */
export function returnToPlace(): () => void {
  const { top, href } = leftAt() ?? { top: 0, href: null };
  /** Returns whether the page is as it was left. Browsers round to fractions of a pixel. */
  const isThere = (): boolean => {
    const link = href === null ? null : document.querySelector<HTMLElement>(`main [href="${CSS.escape(href)}"]`);
    link?.focus({ preventScroll: true });
    scrollTo(0, top);
    return Math.abs(scrollY - top) < 2 && (href === null || link !== null);
  };
  if (isThere()) return () => {};
  const controller = new AbortController();
  const stop = () => {
    controller.abort();
    observer.disconnect();
    clearTimeout(timer);
  };
  const observer = new ResizeObserver(() => isThere() && stop());
  const timer = setTimeout(stop, WAIT_MS);
  observer.observe(document.body);
  for (const type of ['wheel', 'touchmove', 'keydown', 'pointerdown'])
    addEventListener(type, stop, { signal: controller.signal, passive: true });
  return stop;
}

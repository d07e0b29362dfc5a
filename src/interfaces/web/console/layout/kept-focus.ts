import { useEffect } from 'preact/hooks';

/** Selects the places that take the focus of what stood in them. */
const PLACES = 'dialog, section, main, [tabindex]';

/**
 * Keeps the place of the keyboard. While the focused element is disabled, or once it is gone, the nearest place around it
 * has the focus. A button that was disabled during its act gets the focus back.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: HTMLElement | null = null;
    let around: readonly HTMLElement[] = [];
    let standIn: HTMLElement | null = null;
    const onFocus = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement) || target === standIn) return;
      last = target;
      around = [];
      standIn = null;
      for (let place = target.parentElement; place; place = place.parentElement) {
        if (place.matches(PLACES)) around = [...around, place];
      }
    };
    const onPointer = () => {
      last = null; // A click beside everything takes the focus away on purpose.
    };
    const keep = () => {
      const { activeElement: now } = document;
      const isLost = !now || now === document.body || now === standIn || now.matches(':disabled');
      if (!last || !isLost) return;
      if (last.isConnected && !last.matches(':disabled')) return last.focus({ preventScroll: true });
      if (now && now === standIn) return;
      standIn = around.find((place) => place.isConnected) ?? document.querySelector('main');
      if (standIn && !standIn.hasAttribute('tabindex')) standIn.tabIndex = -1;
      standIn?.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(keep);
    addEventListener('focusin', onFocus);
    addEventListener('pointerdown', onPointer);
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
    return () => {
      observer.disconnect();
      removeEventListener('focusin', onFocus);
      removeEventListener('pointerdown', onPointer);
    };
  }, []);
}

import { useEffect } from 'preact/hooks';

/** Selects the elements that can take the focus when an element within them loses it. */
const PLACES = 'dialog, section, main, [tabindex]';

/**
 * Keeps the focus in the page. While the focused element is disabled, or after its removal, the nearest of the PLACES
 * that contain it has the focus. A button that was disabled during its action gets the focus back.
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
    const onPointer = ({ target }: PointerEvent) => {
      // A click beside the focused element removes the focus on purpose.
      if (!(target instanceof Node && last?.contains(target))) last = null;
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

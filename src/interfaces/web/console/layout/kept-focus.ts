import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/**
 * Keeps the place of the keyboard. A button that was disabled during its act gets the focus back. If the focused element
 * is gone, the open dialog gets it, or else `main`.
 */
export function useKeptFocus(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let last: HTMLElement | null = null;
    const onFocus = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement) last = target;
    };
    const onPointer = () => {
      last = null; // A click beside everything takes the focus away on purpose.
    };
    const observer = new MutationObserver(() => {
      if (!last || (document.activeElement !== document.body && document.activeElement !== null)) return;
      if (last.matches(':disabled')) return;
      const dialog = [...document.querySelectorAll<HTMLElement>('dialog[open]')].at(-1);
      const goal = last.isConnected ? last : (dialog?.querySelector<HTMLElement>('button, input') ?? main.current);
      goal?.focus({ preventScroll: true });
    });
    addEventListener('focusin', onFocus);
    addEventListener('pointerdown', onPointer);
    const changes = { childList: true, subtree: true, attributeFilter: ['disabled'] };
    observer.observe(document.body, changes);
    return () => {
      observer.disconnect();
      removeEventListener('focusin', onFocus);
      removeEventListener('pointerdown', onPointer);
    };
  }, []);
}

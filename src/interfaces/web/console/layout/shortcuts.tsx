import { useEffect } from 'preact/hooks';
import { pages } from '../pages.js';
import { can } from '../shared/account.js';
import { Dialog } from '../shared/dialog.js';
import { link, navigate } from '../shared/router.js';

const SECOND_KEY_WITHIN_MS = 1_500;

/** Returns whether keys are text for the element. Such keys are not shortcuts. */
const takesText = (element: EventTarget | null) =>
  element instanceof HTMLElement && (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName));

/** Listens for Ctrl+K, `?`, `/`, and for `g` followed by the key of a page. */
export function useShortcuts({ openPalette, openHelp }: { openPalette: () => void; openHelp: () => void }): void {
  useEffect(() => {
    let pressedG = 0;
    const onKey = (event: KeyboardEvent) => {
      // A second dialog would cover an open one, such as the sign-in.
      if (document.querySelector('dialog[open]')) return;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        openPalette();
        return;
      }
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
      if (!plain || takesText(event.target)) return;
      const second = event.timeStamp - pressedG < SECOND_KEY_WITHIN_MS;
      pressedG = event.key === 'g' ? event.timeStamp : 0;
      const page = second && pages.find(({ menu, needs }) => menu?.key === event.key && (!needs || can(needs)));
      if (page) navigate(link(page.path));
      else if (event.key === '?') openHelp();
      else if (event.key === '/') {
        event.preventDefault();
        openPalette();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const toPages = pages.filter(({ menu, needs }) => menu && (!needs || can(needs)));
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        <dt>
          <kbd>Ctrl</kbd> <kbd>K</kbd> or <kbd>/</kbd>
        </dt>
        <dd>Find a page or an action</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>Show this list</dd>
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>Close a dialog</dd>
        {toPages.map(({ path, title, menu }) => (
          <>
            <dt key={path}>
              <kbd>g</kbd> <kbd>{menu?.key}</kbd>
            </dt>
            <dd>{title}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  );
}

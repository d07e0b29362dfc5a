import { useEffect, useState } from 'preact/hooks';
import { query, setQuery } from '../../shared/router.js';

const WIDE = matchMedia('(min-width: 72rem)');

/** Returns the panel beside the chats. On a wide screen, it shows the settings if the address names no panel. */
export function usePanel() {
  const [isWide, setWide] = useState(WIDE.matches);
  useEffect(() => {
    const onChange = () => setWide(WIDE.matches);
    WIDE.addEventListener('change', onChange);
    return () => WIDE.removeEventListener('change', onChange);
  }, []);
  const named = query.value.get('panel') ?? (isWide ? 'settings' : 'none');
  const shown = named === 'settings' || named === 'conversations' ? named : null;
  const open = (name: string) => setQuery({ panel: name });
  const button = (name: string, words: string) => (
    <button
      type="button"
      class="button"
      aria-pressed={shown === name}
      onClick={() => open(shown === name ? 'none' : name)}
    >
      {words}
    </button>
  );
  const buttons = [button('conversations', 'Conversations'), button('settings', 'Settings')];
  return { shown, isWide, open, buttons };
}

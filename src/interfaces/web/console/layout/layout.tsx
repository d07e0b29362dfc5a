import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { pages } from '../pages.js';
import { can, user } from '../shared/account.js';
import { Icon, IconButton } from '../shared/icon.js';
import { OutageNote } from '../shared/outage-note.js';
import { match } from '../shared/place.js';
import { link, path } from '../shared/router.js';
import { useKeptFocus } from './kept-focus.js';
import { Palette } from './palette.js';
import { returnToPlace } from './scroll.js';
import { ShortcutHelp, useShortcuts } from './shortcuts.js';
import { signOut } from './sign-out.js';
import { VerificationBanner } from './verification-banner.js';

/** Shows the menu beside the open page. On a small screen, the menu opens over the page. */
export function Layout({ children }: { children: ComponentChildren }) {
  const [menuOpen, setMenuOpen] = useState(false);
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const main = useRef<HTMLElement>(null);
  const place = path.value;
  useShortcuts({ openPalette: () => setPalette(true), openHelp: () => setHelp(true) });
  useKeptFocus();
  // A layout effect comes before all focus that a page sets when it is drawn.
  useLayoutEffect(() => {
    setMenuOpen(false);
    main.current?.focus({ preventScroll: true });
    return returnToPlace();
  }, [place]);
  return (
    <div class="layout">
      <header class="top">
        <a
          class="skip"
          href={link(place)}
          onClick={(event) => {
            event.preventDefault();
            main.current?.focus();
          }}
        >
          Skip to the content
        </a>
        <IconButton
          icon={menuOpen ? 'close' : 'menu'}
          label="Menu"
          aria-expanded={menuOpen}
          aria-controls="menu"
          onClick={() => setMenuOpen(!menuOpen)}
        />
        <a class="brand" href={link('/')}>
          Tenon
        </a>
        <IconButton icon="search" label="Find a page or an action" onClick={() => setPalette(true)} />
      </header>
      <nav id="menu" class={menuOpen ? 'menu open' : 'menu'} aria-label="Main">
        <a class="brand" href={link('/')}>
          Tenon
        </a>
        <button type="button" class="find" onClick={() => setPalette(true)}>
          <Icon name="search" /> Find <kbd>Ctrl K</kbd>
        </button>
        <Menu place={place} />
        <div class="menu-foot">
          <button type="button" class="menu-item" onClick={() => setHelp(true)}>
            <Icon name="help" /> Shortcuts <kbd>?</kbd>
          </button>
          <a class="menu-item" href="docs">
            <Icon name="link" /> API reference
          </a>
          <SignOut />
        </div>
      </nav>
      <main ref={main} tabIndex={-1}>
        <OutageNote />
        <VerificationBanner />
        {children}
      </main>
      {palette && <Palette onClose={() => setPalette(false)} onHelp={() => setHelp(true)} />}
      {help && <ShortcutHelp onClose={() => setHelp(false)} />}
    </div>
  );
}

function Menu({ place }: { place: string }) {
  const offered = pages.filter(({ menu, needs }) => menu && (!needs || can(needs)));
  const groups = [...new Set(offered.map(({ menu }) => menu?.group))];
  return (
    <>
      {groups.map((group) => (
        <ul key={group} aria-label={group}>
          {offered
            .filter(({ menu }) => menu?.group === group)
            .map(({ path: to, title, menu }) => (
              <li key={to}>
                <a class="menu-item" href={link(to)} aria-current={isWithin(to, place) ? 'page' : undefined}>
                  {menu && <Icon name={menu.icon} />} {title}
                </a>
              </li>
            ))}
        </ul>
      ))}
    </>
  );
}

const isWithin = (to: string, place: string) => match(to, place) !== null || (to !== '/' && place.startsWith(`${to}/`));

const SignOut = () => (
  <button type="button" class="menu-item" onClick={signOut}>
    <Icon name="leave" /> Sign out{user.value && <span class="menu-who">{user.value.name}</span>}
  </button>
);

import { byId } from './forms.js';

const all = () => [...document.querySelectorAll('[role=tab]')];

/** Makes tabs usable by keyboard: one tab stop for all, and the arrow keys between them. */
export function prepareTabs(show) {
  for (const tab of all()) {
    tab.addEventListener('click', () => show(tab.getAttribute('aria-controls')));
    tab.addEventListener('keydown', (event) => {
      const tabs = all();
      const at = tabs.indexOf(tab);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = tabs.at(to % tabs.length);
      next.focus();
      show(next.getAttribute('aria-controls'));
    });
  }
}

export function selectTab(view) {
  for (const tab of all()) {
    const selected = tab === byId(`tab-${view}`);
    tab.ariaSelected = String(selected);
    tab.tabIndex = selected ? 0 : -1;
  }
}

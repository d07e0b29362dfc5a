/** Begins to load what the first page needs, while the rest of the code is on its way. */
import { loadPage, pageAt } from './page-code.js';
import { askEarly } from './shared/early-call.js';
import { pathOf, placeOf } from './shared/place.js';

const isConsole = location.pathname.endsWith('/'); // the other pages need no session
if (isConsole) {
  askEarly();
  const found = pageAt(pathOf(placeOf(location.hash)));
  if (found) void loadPage(found.page).catch(() => {}); // the page is loaded again when it is shown
}

/** Begins to load what the first page needs, while the rest of the code is on its way. */
import { loadPage, pageAt } from './page-code.js';
import { askEarly } from './shared/early-call.js';
import { pathOf, placeOf } from './shared/place.js';

const isConsole = location.pathname.endsWith('/'); // the other pages need no session
if (isConsole) {
  const place = placeOf(location.hash);
  const found = pageAt(pathOf(place));
  const list = place.includes('?') ? undefined : found?.page.early; // with parameters, the page asks for another list
  askEarly('v1/status', ...(list ? [list] : []));
  if (found) void loadPage(found.page).catch(() => {}); // the page is loaded again when it is shown
}

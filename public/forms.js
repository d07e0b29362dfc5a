export const byId = (id) => document.getElementById(id);

/**
 * Sends the form by `request`, with its buttons disabled. Shows a refusal beside the fields that it names, or above the
 * form. Passes an answer to `done`.
 */
export function onSubmit(form, request, done) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (form.ariaBusy === 'true') return; // Enter in a field submits, too.
    clear(form);
    wait(form, true);
    const { ok, body } = await request(form.elements);
    wait(form, false);
    if (ok) done(body);
    else refuse(form, body);
  });
}

function wait(form, busy) {
  form.ariaBusy = String(busy);
  for (const button of form.querySelectorAll('button')) button.disabled = busy;
}

/** Empties all notices and alerts, so that only the next one is shown. */
export function clearMessages() {
  for (const one of document.querySelectorAll('.notice, .alert')) one.textContent = '';
}

function clear(form) {
  clearMessages();
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid');
    describe(field, (ids) => ids.filter((id) => id !== noteId(field)));
    byId(noteId(field))?.remove();
  }
}

/** Shows a refusal beside the fields that it names, or above the form. */
function refuse(form, { error, details = [] }) {
  const fieldOf = ({ path }) => form.elements.namedItem(path);
  const beside = details.filter(fieldOf);
  for (const finding of beside) mark(fieldOf(finding), finding.message);
  const above = details.filter((finding) => !fieldOf(finding)).map(({ path, message }) => `${path} ${message}.`);
  const text = beside.length > 0 ? above.join(' ') : error;
  form.querySelector('[role=alert]').textContent = text;
  const first = form.querySelector('[aria-invalid]') ?? form.querySelector('[type=submit]');
  first.focus();
}

function mark(field, message) {
  if (field.ariaInvalid === 'true') return;
  const note = document.createElement('p');
  note.id = noteId(field);
  note.className = 'error';
  note.textContent = `${field.labels[0].textContent} ${message}.`;
  field.after(note);
  field.setAttribute('aria-invalid', 'true');
  describe(field, (ids) => [...ids, note.id]);
}

const noteId = (field) => `${field.id}-error`;

function describe(field, change) {
  const ids = change((field.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean));
  if (ids.length > 0) field.setAttribute('aria-describedby', ids.join(' '));
  else field.removeAttribute('aria-describedby');
}

/** Takes a secret from the page's link, and removes it from the address bar and the tab's history. */
export function takeFromLink(name) {
  const value = new URLSearchParams(location.search).get(name);
  if (location.search) history.replaceState(null, '', location.pathname + location.hash);
  return value;
}

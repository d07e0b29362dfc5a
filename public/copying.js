import { byId } from './forms.js';

/** Makes every button with `data-copies` copy the text of the element that the attribute names. */
export function enableCopying() {
  for (const button of document.querySelectorAll('[data-copies]')) {
    const said = button.parentElement.querySelector('[role=status]');
    button.addEventListener('click', async () => {
      said.textContent = '';
      const copied = await copy(byId(button.dataset.copies));
      said.textContent = copied ? 'Copied' : 'Selected: copy it with your keyboard';
    });
  }
}

async function copy(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    // Over plain http, browsers offer the clipboard only to pages of the same machine: use the old command instead.
    getSelection().selectAllChildren(element);
    return document.execCommand('copy');
  }
}

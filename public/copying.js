import { byId } from './forms.js';

/** Makes every button with `data-copies` copy the text of the element that it names. */
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
    // Browsers offer no clipboard on plain http to other machines: select the text and try the old command.
    getSelection().selectAllChildren(element);
    return document.execCommand('copy');
  }
}

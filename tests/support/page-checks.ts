import type { Page } from 'playwright-core';

/** Returns a line for each problem of accessibility and layout that the page has now. */
export const shortcomings = (page: Page): Promise<string[]> => page.evaluate<string[]>(`(${inPage})()`);

/** Runs in the browser. What is not shown doesn't count. */
const inPage = `() => {
  const found = [];
  const all = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const name = (one) => one.tagName.toLowerCase() + (one.id ? '#' + one.id : '');
  if (document.documentElement.lang !== 'en') found.push('no language');
  if (!document.title) found.push('no title');
  if (all('h1').length !== 1) found.push('not one h1');
  if (all('main').length !== 1) found.push('not one main');
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push('scrolls sideways: ' + scrollWidth + ' in ' + clientWidth);
  for (const one of all('input')) if (!one.labels.length) found.push(name(one) + ' has no label');
  for (const one of all('button, a')) if (!one.textContent.trim()) found.push(name(one) + ' has no name');
  for (const one of all('button')) if (one.offsetHeight < 24) found.push(name(one) + ' is too small to touch');
  for (const one of all('[aria-describedby], [aria-labelledby], [aria-controls]'))
    for (const attribute of ['aria-describedby', 'aria-labelledby', 'aria-controls'])
      for (const id of (one.getAttribute(attribute) ?? '').split(' ').filter(Boolean))
        if (!document.getElementById(id)) found.push(name(one) + ': ' + attribute + ' names nothing: ' + id);
  const ids = [...document.querySelectorAll('[id]')].map((one) => one.id);
  if (new Set(ids).size < ids.length) found.push('an id is there twice');

  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (one) => {
    const color = getComputedStyle(one).backgroundColor;
    return channels(color)[3] === 0 && one.parentElement ? behind(one.parentElement) : color;
  };
  for (const one of all('body *')) {
    if (one.disabled || ![...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const [lighter, darker] = [luminance(getComputedStyle(one).color), luminance(behind(one))].sort((a, b) => b - a);
    const contrast = (lighter + 0.05) / (darker + 0.05);
    if (contrast < 4.5) found.push(name(one) + ' "' + one.textContent.trim().slice(0, 20) + '": contrast ' + contrast.toFixed(2));
  }
  return found;
}`;

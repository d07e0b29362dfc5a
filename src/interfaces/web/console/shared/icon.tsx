import type { ButtonHTMLAttributes } from 'preact';

/** The paths of the icons: strokes of width 1.5 in a square of 16. */
const paths = {
  overview: 'M2 9.5 5 6l3 3 3-5 3 4M2 13.5h12',
  playground: 'M2.5 3.5h11v7h-6l-3 2.5v-2.5h-2z',
  projects: 'M2 4.5h4l1.5 2H14v6.5H2z',
  datasets:
    'M3 4c0-1 2.2-1.5 5-1.5S13 3 13 4s-2.2 1.5-5 1.5S3 5 3 4Zm0 0v8c0 1 2.2 1.5 5 1.5s5-.5 5-1.5V4M3 8c0 1 2.2 1.5 5 1.5S13 9 13 8',
  models: 'M8 2 13.5 5v6L8 14l-5.5-3V5zM2.5 5 8 8l5.5-3M8 8v6',
  evaluations: 'M3 13V8m3.3 5V5m3.4 8V9.5M13 13V3',
  deployments: 'M2.5 3h11v4h-11zm0 6h11v4h-11zM5 5h.01M5 11h.01',
  calls: 'M2.5 3h7v5.5H6l-2 2v-2H2.5zM11.5 6h2v5.5H12v2l-2-2H6.5',
  jobs: 'M3 4h1m3 0h6M3 8h1m3 0h6M3 12h1m3 0h6',
  alerts: 'M8 2.5c2.5 0 4 1.8 4 4.2 0 3 1.5 4.3 1.5 4.3h-11S4 9.7 4 6.7c0-2.4 1.5-4.2 4-4.2Zm-1.3 11h2.6',
  budgets: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Zm0-6V2m0 6 4.5 4',
  logs: 'm3 5 3 3-3 3m5 0h5',
  team: 'M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm-4 5c0-2 1.6-3.2 4-3.2s4 1.2 4 3.2m.5-5.3a2 2 0 0 0 0-4m1.3 6.2c1.4.4 2.2 1.4 2.2 3',
  account: 'M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8Zm-5 5.5C3 11.3 5 10 8 10s5 1.3 5 3.5',
  menu: 'M2.5 4.5h11M2.5 8h11m-11 3.5h11',
  close: 'm4 4 8 8m0-8-8 8',
  copy: 'M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm3.3-1.2L14 14',
  plus: 'M8 3v10M3 8h10',
  check: 'm3 8.5 3.2 3L13 4.5',
  warning: 'M8 2.5 14.5 13.5h-13zM8 6.5v3m0 2v.01',
  play: 'M5 3.5v9l7-4.5z',
  stop: 'M4 4h8v8H4z',
  retry: 'M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3',
  edit: 'm3 13 .7-2.8L11 3l2 2-7.2 7.3zM9.5 4.5l2 2',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9',
  upload: 'M8 11V3M5 6l3-3 3 3M3 13.5h10',
  download: 'M8 3v8M5 8l3 3 3-3M3 13.5h10',
  link: 'M6.5 9.5 9.5 6.5M7 4.8l1.6-1.6a2.6 2.6 0 0 1 3.8 3.7L10.8 8.4M9 11.2l-1.6 1.6a2.6 2.6 0 0 1-3.8-3.7L5.2 7.6',
  more: 'M3.5 8h.01M8 8h.01m4.49 0h.01',
  good: 'M5 7v6.5H2.5V7zm0 .3L7.6 2c1.1 0 1.8.8 1.7 1.8L9 6.2h3.2c.9 0 1.5.8 1.3 1.6l-1 4.4c-.2.8-.8 1.3-1.6 1.3H5',
  bad: 'M5 9V2.5H2.5V9zm0-.3L7.6 14c1.1 0 1.8-.8 1.7-1.8L9 9.8h3.2c.9 0 1.5-.8 1.3-1.6l-1-4.4c-.2-.8-.8-1.3-1.6-1.3H5',
  next: 'm6 3.5 4.5 4.5L6 12.5',
  back: 'M10 3.5 5.5 8l4.5 4.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  lock: 'M4 7.5h8v6H4zm1.5 0V5a2.5 2.5 0 0 1 5 0v2.5',
  fork: 'M5 5.5v5m0-3c0 2 6 0 6-2M5 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm0 8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm6-8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z',
  help: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.3 6.3C6.4 5.4 7 5 8 5s1.7.5 1.7 1.4c0 1.2-1.7 1.2-1.7 2.5m0 2v.01',
  leave: 'M9 3H3v10h6M7 8h7m-2.5-2.5L14 8l-2.5 2.5',
} as const;

export type IconName = keyof typeof paths;

/** Draws an icon beside words, or within a button that has an `aria-label`. It is hidden from screen readers. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);

/** Draws a button that shows only an icon. Screen readers read its `label`. */
export const IconButton = ({
  icon,
  label,
  ...button
}: { icon: IconName; label: string } & ButtonHTMLAttributes<HTMLButtonElement>) => (
  <button type="button" class="icon-button" aria-label={label} {...button}>
    <Icon name={icon} />
  </button>
);

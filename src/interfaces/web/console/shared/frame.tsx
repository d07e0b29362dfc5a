import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { link, path, query } from './router.js';

/** Draws a page: the links to the pages above it, its title, its buttons and its content. */
export function Frame(props: {
  title: ComponentChildren;
  /** The pages above this page, from the outermost to the nearest. */
  above?: readonly { readonly title: string; readonly href: string }[];
  /** A short text below the title. */
  about?: ComponentChildren;
  actions?: ComponentChildren;
  tabs?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { title, above = [], about, actions, tabs, children } = props;
  return (
    <div class="frame">
      <header class="frame-head">
        {above.length > 0 && (
          <nav aria-label="Path" class="crumbs">
            {above.map((place) => (
              <a key={place.href} dir="auto" href={place.href}>
                {place.title}
              </a>
            ))}
          </nav>
        )}
        <div class="frame-title">
          <h1 dir="auto">{title}</h1>
          {actions && <div class="actions">{actions}</div>}
        </div>
        {about && <div class="frame-about">{about}</div>}
        {tabs}
      </header>
      {children}
    </div>
  );
}

/** Shows links between related pages, such as the pages of a project. Marks the link that fits the open page best. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly (readonly [string, string])[] }) {
  const holding = tabs.filter(([, to]) => path.value === to || path.value.startsWith(`${to}/`));
  const strip = useRef<HTMLElement>(null);
  const current = holding.map(([, to]) => to).sort((a, b) => b.length - a.length)[0];
  useLayoutEffect(() => {
    // On a small screen, the tabs scroll within their strip. The current one must be seen.
    const tab = strip.current?.querySelector<HTMLElement>('[aria-current]');
    if (strip.current && tab) strip.current.scrollLeft = tab.offsetLeft - strip.current.clientWidth + tab.offsetWidth;
  }, [current]);
  return (
    <nav ref={strip} class="tabs" aria-label={label}>
      {tabs.map(([title, to]) => (
        <a key={to} href={link(to)} aria-current={to === current ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}

/** Shows links that set a parameter of the address, such as a filter. The first option removes the parameter. */
export const Choices = (props: {
  label: string;
  name: string;
  options: readonly (readonly [value: string, words: string])[];
}) => {
  const usual = props.options[0]?.[0];
  const now = query.value.get(props.name) ?? usual;
  return (
    <nav class="choices" aria-label={props.label}>
      {props.options.map(([value, words]) => (
        <a
          key={value}
          href={link(path.value, {
            ...Object.fromEntries(query.value),
            [props.name]: value === usual ? null : value,
          })}
          aria-current={now === value ? 'true' : undefined}
        >
          {words}
        </a>
      ))}
    </nav>
  );
};

export const Panel = (props: { title: string; actions?: ComponentChildren; children: ComponentChildren }) => (
  <section class="panel" aria-label={props.title}>
    <header class="panel-head">
      <h2>{props.title}</h2>
      {props.actions && <div class="actions">{props.actions}</div>}
    </header>
    {props.children}
  </section>
);

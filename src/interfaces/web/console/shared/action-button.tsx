import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

/**
 * Draws a button, or a link if there is a `href`. With a reason in `whyNot` it does nothing, and the reason stands
 * beside it. It can still get the focus, so that screen readers find it and read the reason.
 */
export function ActionButton(props: {
  whyNot: string | null;
  class?: string;
  href?: string;
  onClick?: ButtonHTMLAttributes['onClick'];
  children: ComponentChildren;
}) {
  const { whyNot, class: look = 'button', href, onClick, children } = props;
  const id = useId();
  if (whyNot !== null) {
    return (
      <span class="not-yet">
        <button type="button" class={look} aria-disabled="true" aria-describedby={id}>
          {children}
        </button>
        <span id={id} class="hint">
          {whyNot}
        </span>
      </span>
    );
  }
  if (href !== undefined) {
    return (
      <a class={look} href={href}>
        {children}
      </a>
    );
  }
  return (
    <button type="button" class={look} onClick={onClick}>
      {children}
    </button>
  );
}

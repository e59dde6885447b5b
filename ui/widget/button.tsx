import type { ComponentChildren } from "preact";
import { ICONS, type IconName } from "./icons";

interface Props {
  class?: string;
  /** Shown instead of words; then there is a label. */
  icon?: IconName;
  label?: string;
  press?: (event: MouseEvent & { currentTarget: HTMLElement }) => unknown;
  children?: ComponentChildren;
  [attribute: string]: unknown;
}

export function Button({ icon, label, press, children, ...others }: Props) {
  return (
    <button type="button" aria-label={label} title={label} onClick={press} {...others}>
      {icon ? (
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d={ICONS[icon]} />
        </svg>
      ) : (
        children
      )}
    </button>
  );
}

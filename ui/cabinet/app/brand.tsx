import { Anchor, Group } from "@mantine/core";
import { Link } from "react-router";

/** The product's mark, as on the site (ui/site/icon.svg), and its name, which leads to the first page. */
export function Brand() {
  return (
    <Anchor component={Link} to="/" underline="never" c="inherit" fw={700} fz="lg">
      <Group gap={8} wrap="nowrap">
        <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
          <path
            d="M8 3h16a6 6 0 0 1 6 6v8a6 6 0 0 1-6 6H13l-6.4 5.6A1 1 0 0 1 5 27.9V22.2A6 6 0 0 1 2 17V9a6 6 0 0 1 6-6Z"
            fill="var(--mantine-primary-color-filled)"
          />
          <path d="M9.5 10.5h13M9.5 15.5h8" fill="none" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
        </svg>
        Parley
      </Group>
    </Anchor>
  );
}

import { Anchor, Group } from "@mantine/core";
import { Link } from "react-router";

/** The product's name, which leads to the first page. */
export function Brand() {
  return (
    <Anchor component={Link} to="/" underline="never" c="inherit" fw={700} fz="lg">
      <Group gap={8} wrap="nowrap">
        <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
          <path
            d="M4 4h16a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-7l-5 4v-4H4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2Z"
            fill="var(--mantine-primary-color-filled)"
          />
          <path
            d="M7 10.500v1M10.300 8.500v5M13.700 9.500v3M17 7.500v6.500"
            stroke="#fff"
            strokeWidth="1.8"
            strokeLinecap="round"
          />
        </svg>
        Parley
      </Group>
    </Anchor>
  );
}

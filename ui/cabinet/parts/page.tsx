import { Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

interface PageProps {
  title: string;
  /** A sentence under the title. */
  lead?: ReactNode;
  /** Buttons beside the title. */
  actions?: ReactNode;
  /** What stands above the title: the way back. */
  above?: ReactNode;
  children: ReactNode;
}

/** A page of the cabinet: its title, what can be done here, and its content. */
export function Page({ title, lead, actions, above, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
  return (
    <Stack gap="lg" maw={1280} mx="auto">
      <Stack gap={4}>
        {above}
        <Group justify="space-between" align="flex-start" gap="sm">
          {/* What can be done stands beside the title, or under its sentence where there is no room. */}
          <Stack gap={4} flex="1 1 15rem" miw={0}>
            <Title order={1}>{title}</Title>
            {lead && (
              <Text c="var(--soft)" maw="46rem">
                {lead}
              </Text>
            )}
          </Stack>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      </Stack>
      {children}
    </Stack>
  );
}
